; Made of device/connect.c by `python -m relay.targets.cpu.support.generate`.

%struct.named_device = type { ptr, ptr }

define internal range(i32 -2, 1) i32 @relay_device_connect(ptr readonly captures(none) %devices, i64 %count, ptr readonly captures(none) %name, ptr %device) nounwind {
entry:
  %0 = load i32, ptr %device, align 8
  %cmp.not = icmp eq i32 %0, 1
  br i1 %cmp.not, label %lor.lhs.false, label %return

lor.lhs.false:
  %table_bytes = getelementptr inbounds nuw i8, ptr %device, i64 4
  %1 = load i32, ptr %table_bytes, align 4
  %cmp1 = icmp ult i32 %1, 112
  br i1 %cmp1, label %return, label %for.cond.preheader

for.cond.preheader:
  %cmp220.not = icmp eq i64 %count, 0
  br i1 %cmp220.not, label %return, label %for.body

for.cond:
  %inc = add nuw i64 %i.021, 1
  %exitcond.not = icmp eq i64 %inc, %count
  br i1 %exitcond.not, label %return, label %for.body

for.body:
  %i.021 = phi i64 [ %inc, %for.cond ], [ 0, %for.cond.preheader ]
  %arrayidx = getelementptr inbounds nuw %struct.named_device, ptr %devices, i64 %i.021
  %2 = load ptr, ptr %arrayidx, align 8
  %3 = load i8, ptr %2, align 1
  %tobool.not.i14 = icmp eq i8 %3, 0
  br i1 %tobool.not.i14, label %is_same.exit, label %land.rhs.i

land.rhs.i:
  %4 = phi i8 [ %6, %while.body.i ], [ %3, %for.body ]
  %other.addr.0.i16 = phi ptr [ %incdec.ptr4.i, %while.body.i ], [ %name, %for.body ]
  %one.addr.0.i15 = phi ptr [ %incdec.ptr.i, %while.body.i ], [ %2, %for.body ]
  %5 = load i8, ptr %other.addr.0.i16, align 1
  %cmp.i = icmp eq i8 %4, %5
  br i1 %cmp.i, label %while.body.i, label %is_same.exit

while.body.i:
  %incdec.ptr.i = getelementptr inbounds nuw i8, ptr %one.addr.0.i15, i64 1
  %incdec.ptr4.i = getelementptr inbounds nuw i8, ptr %other.addr.0.i16, i64 1
  %6 = load i8, ptr %incdec.ptr.i, align 1
  %tobool.not.i = icmp eq i8 %6, 0
  br i1 %tobool.not.i, label %is_same.exit, label %land.rhs.i

is_same.exit:
  %other.addr.0.i.lcssa = phi ptr [ %name, %for.body ], [ %incdec.ptr4.i, %while.body.i ], [ %other.addr.0.i16, %land.rhs.i ]
  %.lcssa = phi i8 [ 0, %for.body ], [ 0, %while.body.i ], [ %4, %land.rhs.i ]
  %7 = load i8, ptr %other.addr.0.i.lcssa, align 1
  %cmp7.i = icmp eq i8 %.lcssa, %7
  br i1 %cmp7.i, label %cleanup, label %for.cond

cleanup:
  %slot = getelementptr inbounds nuw i8, ptr %arrayidx, i64 8
  %8 = load ptr, ptr %slot, align 8
  store ptr %device, ptr %8, align 8
  br label %return

return:
  %retval.1 = phi i32 [ -2, %lor.lhs.false ], [ -2, %entry ], [ 0, %cleanup ], [ -1, %for.cond.preheader ], [ -1, %for.cond ]
  ret i32 %retval.1
}
