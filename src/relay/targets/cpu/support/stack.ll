; Running a call on a stack of its own, since a recursive program may need more than its caller has. The stack is
; address space until it is touched.

declare i32 @pthread_attr_init(ptr)
declare i32 @pthread_attr_destroy(ptr)
declare i32 @pthread_attr_setstacksize(ptr, i64)
declare i32 @pthread_create(ptr, ptr, ptr, ptr)
declare i32 @pthread_join(i64, ptr)

; Run `entry(arguments)` on a thread with a large stack and wait for it. Gives its status, or -1 when there is no thread.
define internal i32 @relay_on_deep_stack(ptr %entry, ptr %arguments) nounwind {
start:
  %attributes = alloca [128 x i8], align 16
  %thread = alloca i64
  %worth = alloca i64
  %initialized = call i32 @pthread_attr_init(ptr %attributes)
  br label %try
try:
  %bytes = phi i64 [ 1073741824, %start ], [ %half, %smaller ]
  %code = call i32 @pthread_attr_setstacksize(ptr %attributes, i64 %bytes)
  %budget = getelementptr i8, ptr %arguments, i64 32
  store i64 %bytes, ptr %budget
  %created = call i32 @pthread_create(ptr %thread, ptr %attributes, ptr %entry, ptr %arguments)
  %good = icmp eq i32 %created, 0
  br i1 %good, label %wait, label %smaller
smaller:
  %half = lshr i64 %bytes, 1
  %enough = icmp uge i64 %half, 1048576
  br i1 %enough, label %try, label %fail
fail:
  %undone = call i32 @pthread_attr_destroy(ptr %attributes)
  ret i32 -1
wait:
  %destroyed = call i32 @pthread_attr_destroy(ptr %attributes)
  %id = load i64, ptr %thread
  %joined = call i32 @pthread_join(i64 %id, ptr %worth)
  %status = load i64, ptr %worth
  %small = trunc i64 %status to i32
  ret i32 %small
}
