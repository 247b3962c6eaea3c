; Made of heap/stack.c by `python -m relay.targets.cpu.support.generate`.

%struct.thread_attributes = type { [128 x i8] }

define internal i32 @relay_on_deep_stack(ptr %entry1, ptr initializes((32, 40)) %call) nounwind {
entry:
  %attributes = alloca %struct.thread_attributes, align 16
  %thread = alloca i64, align 8
  %status = alloca ptr, align 8
  call void @llvm.lifetime.start.p0(ptr nonnull %attributes) nounwind
  call void @llvm.lifetime.start.p0(ptr nonnull %thread) nounwind
  call void @llvm.lifetime.start.p0(ptr nonnull %status) nounwind
  %call2 = call i32 @pthread_attr_init(ptr nonnull %attributes) nounwind
  %stack_bytes.i = getelementptr inbounds nuw i8, ptr %call, i64 32
  br label %for.body.i

for.cond.i:
  %div10.i = lshr i64 %bytes.0.i12, 1
  %cmp.i = icmp samesign ugt i64 %bytes.0.i12, 2097151
  br i1 %cmp.i, label %for.body.i, label %start.exit

for.body.i:
  %bytes.0.i12 = phi i64 [ 1073741824, %entry ], [ %div10.i, %for.cond.i ]
  %call2.i = call i32 @pthread_attr_setstacksize(ptr nonnull %attributes, i64 %bytes.0.i12) nounwind
  store i64 %bytes.0.i12, ptr %stack_bytes.i, align 8
  %call3.i = call i32 @pthread_create(ptr nonnull %thread, ptr nonnull %attributes, ptr %entry1, ptr %call) nounwind
  %cmp4.i = icmp eq i32 %call3.i, 0
  br i1 %cmp4.i, label %if.end, label %for.cond.i

start.exit:
  %call4 = call i32 @pthread_attr_destroy(ptr nonnull %attributes) nounwind
  br label %cleanup

if.end:
  %call411 = call i32 @pthread_attr_destroy(ptr nonnull %attributes) nounwind
  %0 = load i64, ptr %thread, align 8
  %call5 = call i32 @pthread_join(i64 %0, ptr nonnull %status) nounwind
  %1 = load ptr, ptr %status, align 8
  %2 = ptrtoint ptr %1 to i64
  %conv = trunc i64 %2 to i32
  br label %cleanup

cleanup:
  %retval.0 = phi i32 [ %conv, %if.end ], [ -1, %start.exit ]
  call void @llvm.lifetime.end.p0(ptr nonnull %status) nounwind
  call void @llvm.lifetime.end.p0(ptr nonnull %thread) nounwind
  call void @llvm.lifetime.end.p0(ptr nonnull %attributes) nounwind
  ret i32 %retval.0
}

declare i32 @pthread_attr_init(ptr)

declare i32 @pthread_attr_destroy(ptr)

declare i32 @pthread_join(i64, ptr)

declare i32 @pthread_attr_setstacksize(ptr, i64)

declare i32 @pthread_create(ptr, ptr, ptr, ptr)
