; Made of device/tensors.c by `python -m relay.targets.cpu.support.generate`.

define internal range(i32 -7, 1) i32 @relay_device_tensor(ptr %tensor, ptr %list, ptr readonly captures(none) %device, i64 %bytes) nounwind {
entry:
  %0 = load ptr, ptr %device, align 8
  %tobool.not = icmp eq ptr %0, null
  br i1 %tobool.not, label %cleanup15, label %if.end

if.end:
  %tobool2.not = icmp eq i64 %bytes, 0
  br i1 %tobool2.not, label %if.end6, label %cond.end

cond.end:
  %allocate = getelementptr inbounds nuw i8, ptr %0, i64 16
  %1 = load ptr, ptr %allocate, align 8
  %context = getelementptr inbounds nuw i8, ptr %0, i64 8
  %2 = load ptr, ptr %context, align 8
  %call = tail call i64 %1(ptr %2, i64 %bytes) nounwind
  %tobool4.not = icmp eq i64 %call, 0
  br i1 %tobool4.not, label %cleanup15, label %if.end6

if.end6:
  %cond33 = phi i64 [ %call, %cond.end ], [ 0, %if.end ]
  %3 = load ptr, ptr %list, align 8
  store ptr @relay_device_give_back, ptr %tensor, align 8
  %.compoundliteral.sroa.2.0..sroa_idx = getelementptr inbounds nuw i8, ptr %tensor, i64 8
  store i64 %cond33, ptr %.compoundliteral.sroa.2.0..sroa_idx, align 8
  %.compoundliteral.sroa.3.0..sroa_idx = getelementptr inbounds nuw i8, ptr %tensor, i64 16
  store i64 %bytes, ptr %.compoundliteral.sroa.3.0..sroa_idx, align 8
  %.compoundliteral.sroa.4.0..sroa_idx = getelementptr inbounds nuw i8, ptr %tensor, i64 24
  store ptr %0, ptr %.compoundliteral.sroa.4.0..sroa_idx, align 8
  %.compoundliteral.sroa.5.0..sroa_idx = getelementptr inbounds nuw i8, ptr %tensor, i64 32
  store ptr %3, ptr %.compoundliteral.sroa.5.0..sroa_idx, align 8
  %.compoundliteral.sroa.6.0..sroa_idx = getelementptr inbounds nuw i8, ptr %tensor, i64 40
  store ptr %list, ptr %.compoundliteral.sroa.6.0..sroa_idx, align 8
  %4 = load ptr, ptr %list, align 8
  %tobool10.not = icmp eq ptr %4, null
  br i1 %tobool10.not, label %if.end14, label %if.then11

if.then11:
  %previous13 = getelementptr inbounds nuw i8, ptr %4, i64 40
  store ptr %.compoundliteral.sroa.5.0..sroa_idx, ptr %previous13, align 8
  br label %if.end14

if.end14:
  store ptr %tensor, ptr %list, align 8
  br label %cleanup15

cleanup15:
  %retval.1 = phi i32 [ -6, %entry ], [ 0, %if.end14 ], [ -7, %cond.end ]
  ret i32 %retval.1
}

define internal void @relay_device_give_back(ptr readonly captures(none) %dead) noinline nounwind {
entry:
  %buffer.i = getelementptr inbounds nuw i8, ptr %dead, i64 8
  %0 = load i64, ptr %buffer.i, align 8
  %tobool.not.i = icmp eq i64 %0, 0
  br i1 %tobool.not.i, label %release_memory.exit, label %if.then.i

if.then.i:
  %table.i = getelementptr inbounds nuw i8, ptr %dead, i64 24
  %1 = load ptr, ptr %table.i, align 8
  %release.i = getelementptr inbounds nuw i8, ptr %1, i64 24
  %2 = load ptr, ptr %release.i, align 8
  %context.i = getelementptr inbounds nuw i8, ptr %1, i64 8
  %3 = load ptr, ptr %context.i, align 8
  tail call void %2(ptr %3, i64 %0) nounwind
  br label %release_memory.exit

release_memory.exit:
  %next = getelementptr inbounds nuw i8, ptr %dead, i64 32
  %4 = load ptr, ptr %next, align 8
  %previous = getelementptr inbounds nuw i8, ptr %dead, i64 40
  %5 = load ptr, ptr %previous, align 8
  store ptr %4, ptr %5, align 8
  %tobool.not = icmp eq ptr %4, null
  br i1 %tobool.not, label %if.end, label %if.then

if.then:
  %6 = load ptr, ptr %previous, align 8
  %previous4 = getelementptr inbounds nuw i8, ptr %4, i64 40
  store ptr %6, ptr %previous4, align 8
  br label %if.end

if.end:
  ret void
}

define internal void @relay_device_sweep(ptr captures(none) %list) nounwind {
entry:
  %each.04 = load ptr, ptr %list, align 8
  %tobool.not5 = icmp eq ptr %each.04, null
  br i1 %tobool.not5, label %for.cond.cleanup, label %for.body

for.cond.cleanup:
  store ptr null, ptr %list, align 8
  ret void

for.body:
  %each.06 = phi ptr [ %each.0, %release_memory.exit ], [ %each.04, %entry ]
  %buffer.i = getelementptr inbounds nuw i8, ptr %each.06, i64 8
  %0 = load i64, ptr %buffer.i, align 8
  %tobool.not.i = icmp eq i64 %0, 0
  br i1 %tobool.not.i, label %release_memory.exit, label %if.then.i

if.then.i:
  %table.i = getelementptr inbounds nuw i8, ptr %each.06, i64 24
  %1 = load ptr, ptr %table.i, align 8
  %release.i = getelementptr inbounds nuw i8, ptr %1, i64 24
  %2 = load ptr, ptr %release.i, align 8
  %context.i = getelementptr inbounds nuw i8, ptr %1, i64 8
  %3 = load ptr, ptr %context.i, align 8
  tail call void %2(ptr %3, i64 %0) nounwind
  br label %release_memory.exit

release_memory.exit:
  %next = getelementptr inbounds nuw i8, ptr %each.06, i64 32
  %each.0 = load ptr, ptr %next, align 8
  %tobool.not = icmp eq ptr %each.0, null
  br i1 %tobool.not, label %for.cond.cleanup, label %for.body
}
