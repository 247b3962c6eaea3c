; Made of device/run.c by `python -m relay.targets.cpu.support.generate`.

%struct.device_transfer = type { i32, i32, i32, i32 }
%struct.relay_buffer = type { i64, i64 }
%struct.device_copy = type { i32, i32, i32, i32, i32 }
%struct.device_module = type { i64, ptr, ptr, i64 }
%struct.device_constant = type { i64, i64, i64 }
%struct.relay_command = type { i64, ptr, [3 x i32], [3 x i32], i32, i32, ptr }

define internal range(i32 -8, 1) i32 @relay_device_run(ptr captures(none) %region, ptr readonly captures(none) %arguments, ptr %buffers, ptr %scalars, ptr %constants) nounwind {
entry:
  %0 = load ptr, ptr %region, align 8
  %1 = load ptr, ptr %0, align 8
  %tobool.not = icmp eq ptr %1, null
  br i1 %tobool.not, label %cleanup, label %while.cond.i.preheader

while.cond.i.preheader:
  %lock.i = getelementptr inbounds nuw i8, ptr %0, i64 72
  %2 = atomicrmw xchg ptr %lock.i, i32 1 acquire, align 8
  %tobool.not.i122 = icmp eq i32 %2, 0
  br i1 %tobool.not.i122, label %lock.exit, label %while.body.i

while.body.i:
  %call.i = tail call i32 @sched_yield() nounwind
  %3 = atomicrmw xchg ptr %lock.i, i32 1 acquire, align 8
  %tobool.not.i = icmp eq i32 %3, 0
  br i1 %tobool.not.i, label %lock.exit, label %while.body.i

lock.exit:
  %4 = load ptr, ptr %region, align 8
  %5 = load ptr, ptr %4, align 8
  %interrupted.i = getelementptr inbounds nuw i8, ptr %4, i64 8
  %6 = load ptr, ptr %interrupted.i, align 8
  %tobool.not.i14 = icmp eq ptr %6, null
  br i1 %tobool.not.i14, label %if.end.i, label %is_interrupted.exit

is_interrupted.exit:
  %call.i16 = tail call i32 %6() nounwind
  %tobool2.i.not = icmp eq i32 %call.i16, 0
  br i1 %tobool2.i.not, label %if.end.i, label %run.exit

if.end.i:
  %has_constants.i = getelementptr inbounds nuw i8, ptr %4, i64 76
  %7 = load i32, ptr %has_constants.i, align 4
  %tobool.not.i12 = icmp eq i32 %7, 0
  br i1 %tobool.not.i12, label %land.lhs.true.i, label %if.end5.i

land.lhs.true.i:
  %call3.i = tail call fastcc i1 @relay_device_bring_constants(ptr nonnull %4, ptr %constants)
  br i1 %call3.i, label %if.end5.i, label %run.exit

if.end5.i:
  %command_count.i = getelementptr inbounds nuw i8, ptr %region, i64 68
  %8 = load i32, ptr %command_count.i, align 4
  %tobool6.not.i = icmp eq i32 %8, 0
  br i1 %tobool6.not.i, label %if.end12.i, label %land.lhs.true7.i

land.lhs.true7.i:
  %recording.i = getelementptr inbounds nuw i8, ptr %region, i64 56
  %9 = load i64, ptr %recording.i, align 8
  %tobool8.not.i = icmp eq i64 %9, 0
  br i1 %tobool8.not.i, label %land.lhs.true9.i, label %if.end12.i

land.lhs.true9.i:
  %call10.i = tail call fastcc i1 @relay_device_record(ptr %5, ptr nonnull %region)
  br i1 %call10.i, label %if.end12.i, label %run.exit

if.end12.i:
  %arena.i = getelementptr inbounds nuw i8, ptr %4, i64 16
  %arena_bytes.i = getelementptr inbounds nuw i8, ptr %region, i64 84
  %10 = load i32, ptr %arena_bytes.i, align 4
  %idxprom.i = zext i32 %10 to i64
  %arrayidx.i = getelementptr inbounds nuw i64, ptr %scalars, i64 %idxprom.i
  %11 = load i64, ptr %arrayidx.i, align 8
  %bytes1.i = getelementptr inbounds nuw i8, ptr %4, i64 24
  %12 = load i64, ptr %bytes1.i, align 8
  %cmp.not.i = icmp ult i64 %12, %11
  br i1 %cmp.not.i, label %if.end.i17, label %if.end15.i

if.end.i17:
  %13 = load i64, ptr %arena.i, align 8
  %tobool.not.i.i = icmp eq i64 %13, 0
  br i1 %tobool.not.i.i, label %make_room.exit, label %if.then.i.i

if.then.i.i:
  %release.i.i = getelementptr inbounds nuw i8, ptr %5, i64 24
  %14 = load ptr, ptr %release.i.i, align 8
  %context.i.i = getelementptr inbounds nuw i8, ptr %5, i64 8
  %15 = load ptr, ptr %context.i.i, align 8
  tail call void %14(ptr %15, i64 %13) nounwind
  br label %make_room.exit

make_room.exit:
  store i64 0, ptr %arena.i, align 8
  store i64 0, ptr %bytes1.i, align 8
  %allocate.i = getelementptr inbounds nuw i8, ptr %5, i64 16
  %16 = load ptr, ptr %allocate.i, align 8
  %context.i = getelementptr inbounds nuw i8, ptr %5, i64 8
  %17 = load ptr, ptr %context.i, align 8
  %call.i18 = tail call i64 %16(ptr %17, i64 %11) nounwind
  store i64 %call.i18, ptr %arena.i, align 8
  %tobool.not.i19 = icmp eq i64 %call.i18, 0
  %cond.i20 = select i1 %tobool.not.i19, i64 0, i64 %11
  store i64 %cond.i20, ptr %bytes1.i, align 8
  br i1 %tobool.not.i19, label %run.exit, label %if.end15.i

if.end15.i:
  tail call void @llvm.memcpy.p0.p0.i64(ptr noundef nonnull align 8 dereferenceable(16) %buffers, ptr noundef nonnull align 8 dereferenceable(16) %arena.i, i64 16, i1 false)
  %arrayidx19.i = getelementptr inbounds nuw i8, ptr %buffers, i64 16
  %constants20.i = getelementptr inbounds nuw i8, ptr %4, i64 32
  tail call void @llvm.memcpy.p0.p0.i64(ptr noundef nonnull align 8 dereferenceable(16) %arrayidx19.i, ptr noundef nonnull align 8 dereferenceable(16) %constants20.i, i64 16, i1 false)
  %upload_count.i = getelementptr inbounds nuw i8, ptr %region, i64 72
  %18 = load i32, ptr %upload_count.i, align 8
  %cmp.i123.not = icmp eq i32 %18, 0
  br i1 %cmp.i123.not, label %if.end23.i, label %for.body.i.lr.ph

for.body.i.lr.ph:
  %uploads.i = getelementptr inbounds nuw i8, ptr %region, i64 32
  %upload.i = getelementptr inbounds nuw i8, ptr %5, i64 32
  %context.i27 = getelementptr inbounds nuw i8, ptr %5, i64 8
  br label %for.body.i

for.body.i:
  %19 = phi i32 [ %18, %for.body.i.lr.ph ], [ %31, %if.end.i28 ]
  %indvars.iv = phi i64 [ 0, %for.body.i.lr.ph ], [ %indvars.iv.next, %if.end.i28 ]
  %20 = load ptr, ptr %uploads.i, align 8
  %arrayidx.i22 = getelementptr inbounds nuw %struct.device_transfer, ptr %20, i64 %indvars.iv
  %bytes5.i = getelementptr inbounds nuw i8, ptr %arrayidx.i22, i64 12
  %21 = load i32, ptr %bytes5.i, align 4
  %idxprom6.i = zext i32 %21 to i64
  %arrayidx7.i = getelementptr inbounds nuw i64, ptr %scalars, i64 %idxprom6.i
  %22 = load i64, ptr %arrayidx7.i, align 8
  %tobool.not.i24 = icmp eq i64 %22, 0
  br i1 %tobool.not.i24, label %if.end.i28, label %land.lhs.true.i25

land.lhs.true.i25:
  %buffer.i = getelementptr inbounds nuw i8, ptr %arrayidx.i22, i64 4
  %23 = load i32, ptr %buffer.i, align 4
  %idxprom8.i = zext i32 %23 to i64
  %arrayidx9.i = getelementptr inbounds nuw %struct.relay_buffer, ptr %buffers, i64 %idxprom8.i
  %24 = load i64, ptr %arrayidx9.i, align 8
  %offset1.i = getelementptr inbounds nuw i8, ptr %arrayidx.i22, i64 8
  %25 = load i32, ptr %offset1.i, align 4
  %idxprom2.i = zext i32 %25 to i64
  %arrayidx3.i = getelementptr inbounds nuw i64, ptr %scalars, i64 %idxprom2.i
  %26 = load i64, ptr %arrayidx3.i, align 8
  %27 = load ptr, ptr %upload.i, align 8
  %28 = load ptr, ptr %context.i27, align 8
  %29 = load i32, ptr %arrayidx.i22, align 4
  %idxprom10.i = zext i32 %29 to i64
  %arrayidx11.i = getelementptr inbounds nuw ptr, ptr %arguments, i64 %idxprom10.i
  %30 = load ptr, ptr %arrayidx11.i, align 8
  %call12.i = tail call i32 %27(ptr %28, i64 %24, i64 %26, ptr %30, i64 %22) nounwind
  %tobool13.not.i = icmp eq i32 %call12.i, 0
  br i1 %tobool13.not.i, label %land.lhs.true.i25.if.end.i28_crit_edge, label %run.exit

land.lhs.true.i25.if.end.i28_crit_edge:
  %.pre = load i32, ptr %upload_count.i, align 8
  br label %if.end.i28

if.end.i28:
  %31 = phi i32 [ %.pre, %land.lhs.true.i25.if.end.i28_crit_edge ], [ %19, %for.body.i ]
  %indvars.iv.next = add nuw nsw i64 %indvars.iv, 1
  %32 = zext i32 %31 to i64
  %cmp.i = icmp samesign ult i64 %indvars.iv.next, %32
  br i1 %cmp.i, label %for.body.i, label %if.end23.i

if.end23.i:
  %33 = load i32, ptr %command_count.i, align 4
  %tobool25.not.i = icmp eq i32 %33, 0
  br i1 %tobool25.not.i, label %if.end29.i, label %cond.true.i

cond.true.i:
  %34 = load ptr, ptr %4, align 8
  %submit.i = getelementptr inbounds nuw i8, ptr %34, i64 72
  %35 = load ptr, ptr %submit.i, align 8
  %context.i29 = getelementptr inbounds nuw i8, ptr %34, i64 8
  %36 = load ptr, ptr %context.i29, align 8
  %recording.i30 = getelementptr inbounds nuw i8, ptr %region, i64 56
  %37 = load i64, ptr %recording.i30, align 8
  %buffer_count.i = getelementptr inbounds nuw i8, ptr %region, i64 92
  %38 = load i32, ptr %buffer_count.i, align 4
  %conv.i = zext i32 %38 to i64
  %scalar_count.i = getelementptr inbounds nuw i8, ptr %region, i64 88
  %39 = load i32, ptr %scalar_count.i, align 8
  %conv2.i = zext i32 %39 to i64
  %call3.i33 = tail call i64 %35(ptr %36, i64 %37, ptr nonnull %buffers, i64 %conv.i, ptr nonnull %scalars, i64 %conv2.i) nounwind
  %tobool.not.i34 = icmp eq i64 %call3.i33, 0
  br i1 %tobool.not.i34, label %if.then.i, label %cond.true.i35

cond.true.i35:
  %40 = load ptr, ptr %4, align 8
  %wait.i = getelementptr inbounds nuw i8, ptr %40, i64 80
  %context.i89 = getelementptr inbounds nuw i8, ptr %40, i64 8
  %is_lost.i = getelementptr inbounds nuw i8, ptr %40, i64 104
  br label %do.body.i

do.body.i:
  %41 = load ptr, ptr %wait.i, align 8
  %42 = load ptr, ptr %context.i89, align 8
  %call.i90 = tail call i32 %41(ptr %42, i64 range(i64 1, 0) %call3.i33, i64 100000000) nounwind
  %cmp.i91.not = icmp eq i32 %call.i90, 1
  br i1 %cmp.i91.not, label %land.lhs.true.i93, label %wait_for.exit

land.lhs.true.i93:
  %43 = load ptr, ptr %interrupted.i, align 8
  %tobool.not.i.i94 = icmp eq ptr %43, null
  br i1 %tobool.not.i.i94, label %do.cond.i, label %is_interrupted.exit.i

is_interrupted.exit.i:
  %call.i.i = tail call i32 %43() nounwind
  %tobool2.i.i.not = icmp eq i32 %call.i.i, 0
  br i1 %tobool2.i.i.not, label %do.cond.i, label %wait_for.exit

do.cond.i:
  %44 = load ptr, ptr %is_lost.i, align 8
  %45 = load ptr, ptr %context.i89, align 8
  %call6.i = tail call i32 %44(ptr %45) nounwind
  %tobool.not.i96 = icmp eq i32 %call6.i, 0
  br i1 %tobool.not.i96, label %do.body.i, label %wait_for.exit

wait_for.exit:
  %status.1.i111 = phi i32 [ -8, %is_interrupted.exit.i ], [ 0, %do.body.i ], [ -7, %do.cond.i ]
  %release.i = getelementptr inbounds nuw i8, ptr %40, i64 24
  %46 = load ptr, ptr %release.i, align 8
  %47 = load ptr, ptr %context.i89, align 8
  tail call void %46(ptr %47, i64 range(i64 1, 0) %call3.i33) nounwind
  %cmp12.i = icmp slt i32 %call.i90, 0
  %brmerge = or i1 %cmp12.i, %cmp.i91.not
  %.mux = select i1 %cmp12.i, i32 -7, i32 %status.1.i111
  br i1 %brmerge, label %if.then.i, label %if.end29.i

if.then.i:
  %cond.i37114 = phi i32 [ %.mux, %wait_for.exit ], [ -7, %cond.true.i ]
  %48 = load i64, ptr %arena.i, align 8
  %tobool.not.i.i39 = icmp eq i64 %48, 0
  br i1 %tobool.not.i.i39, label %cond.end.i, label %if.then.i.i40

if.then.i.i40:
  %release.i.i41 = getelementptr inbounds nuw i8, ptr %34, i64 24
  %49 = load ptr, ptr %release.i.i41, align 8
  %50 = load ptr, ptr %context.i29, align 8
  tail call void %49(ptr %50, i64 %48) nounwind
  br label %cond.end.i

cond.end.i:
  store i64 0, ptr %arena.i, align 8
  store i64 0, ptr %bytes1.i, align 8
  br label %run.exit

if.end29.i:
  %copy_count.i = getelementptr inbounds nuw i8, ptr %region, i64 80
  %51 = load i32, ptr %copy_count.i, align 8
  %cmp.i48125.not = icmp eq i32 %51, 0
  br i1 %cmp.i48125.not, label %for.cond.i62.preheader, label %for.body.i50.lr.ph

for.body.i50.lr.ph:
  %copies.i = getelementptr inbounds nuw i8, ptr %region, i64 48
  %copy.i = getelementptr inbounds nuw i8, ptr %5, i64 48
  %context.i59 = getelementptr inbounds nuw i8, ptr %5, i64 8
  br label %for.body.i50

for.cond.i62.preheader:
  %download_count.i = getelementptr inbounds nuw i8, ptr %region, i64 76
  %52 = load i32, ptr %download_count.i, align 4
  %cmp.i64127.not = icmp eq i32 %52, 0
  br i1 %cmp.i64127.not, label %run.exit, label %for.body.i66.lr.ph

for.body.i66.lr.ph:
  %downloads.i = getelementptr inbounds nuw i8, ptr %region, i64 40
  %download.i = getelementptr inbounds nuw i8, ptr %5, i64 40
  %context.i82 = getelementptr inbounds nuw i8, ptr %5, i64 8
  br label %for.body.i66

for.body.i50:
  %53 = phi i32 [ %51, %for.body.i50.lr.ph ], [ %67, %if.end.i60 ]
  %indvars.iv133 = phi i64 [ 0, %for.body.i50.lr.ph ], [ %indvars.iv.next134, %if.end.i60 ]
  %54 = load ptr, ptr %copies.i, align 8
  %arrayidx.i52 = getelementptr inbounds nuw %struct.device_copy, ptr %54, i64 %indvars.iv133
  %bytes15.i = getelementptr inbounds nuw i8, ptr %arrayidx.i52, i64 16
  %55 = load i32, ptr %bytes15.i, align 4
  %idxprom16.i = zext i32 %55 to i64
  %arrayidx17.i = getelementptr inbounds nuw i64, ptr %scalars, i64 %idxprom16.i
  %56 = load i64, ptr %arrayidx17.i, align 8
  %tobool.not.i54 = icmp eq i64 %56, 0
  br i1 %tobool.not.i54, label %if.end.i60, label %land.lhs.true.i55

land.lhs.true.i55:
  %from_offset11.i = getelementptr inbounds nuw i8, ptr %arrayidx.i52, i64 12
  %57 = load i32, ptr %from_offset11.i, align 4
  %idxprom12.i = zext i32 %57 to i64
  %arrayidx13.i = getelementptr inbounds nuw i64, ptr %scalars, i64 %idxprom12.i
  %58 = load i64, ptr %arrayidx13.i, align 8
  %to_offset7.i = getelementptr inbounds nuw i8, ptr %arrayidx.i52, i64 4
  %59 = load i32, ptr %to_offset7.i, align 4
  %idxprom8.i56 = zext i32 %59 to i64
  %arrayidx9.i57 = getelementptr inbounds nuw i64, ptr %scalars, i64 %idxprom8.i56
  %60 = load i64, ptr %arrayidx9.i57, align 8
  %from_buffer.i = getelementptr inbounds nuw i8, ptr %arrayidx.i52, i64 8
  %61 = load i32, ptr %from_buffer.i, align 4
  %idxprom4.i = zext i32 %61 to i64
  %arrayidx5.i = getelementptr inbounds nuw %struct.relay_buffer, ptr %buffers, i64 %idxprom4.i
  %62 = load i64, ptr %arrayidx5.i, align 8
  %63 = load i32, ptr %arrayidx.i52, align 4
  %idxprom1.i = zext i32 %63 to i64
  %arrayidx2.i = getelementptr inbounds nuw %struct.relay_buffer, ptr %buffers, i64 %idxprom1.i
  %64 = load i64, ptr %arrayidx2.i, align 8
  %65 = load ptr, ptr %copy.i, align 8
  %66 = load ptr, ptr %context.i59, align 8
  %call18.i = tail call i32 %65(ptr %66, i64 %64, i64 %60, i64 %62, i64 %58, i64 %56) nounwind
  %tobool19.not.i = icmp eq i32 %call18.i, 0
  br i1 %tobool19.not.i, label %land.lhs.true.i55.if.end.i60_crit_edge, label %run.exit

land.lhs.true.i55.if.end.i60_crit_edge:
  %.pre139 = load i32, ptr %copy_count.i, align 8
  br label %if.end.i60

if.end.i60:
  %67 = phi i32 [ %.pre139, %land.lhs.true.i55.if.end.i60_crit_edge ], [ %53, %for.body.i50 ]
  %indvars.iv.next134 = add nuw nsw i64 %indvars.iv133, 1
  %68 = zext i32 %67 to i64
  %cmp.i48 = icmp samesign ult i64 %indvars.iv.next134, %68
  br i1 %cmp.i48, label %for.body.i50, label %for.cond.i62.preheader

for.body.i66:
  %69 = phi i32 [ %52, %for.body.i66.lr.ph ], [ %81, %if.end.i87 ]
  %indvars.iv136 = phi i64 [ 0, %for.body.i66.lr.ph ], [ %indvars.iv.next137, %if.end.i87 ]
  %70 = load ptr, ptr %downloads.i, align 8
  %arrayidx.i68 = getelementptr inbounds nuw %struct.device_transfer, ptr %70, i64 %indvars.iv136
  %bytes5.i70 = getelementptr inbounds nuw i8, ptr %arrayidx.i68, i64 12
  %71 = load i32, ptr %bytes5.i70, align 4
  %idxprom6.i71 = zext i32 %71 to i64
  %arrayidx7.i72 = getelementptr inbounds nuw i64, ptr %scalars, i64 %idxprom6.i71
  %72 = load i64, ptr %arrayidx7.i72, align 8
  %tobool.not.i73 = icmp eq i64 %72, 0
  br i1 %tobool.not.i73, label %if.end.i87, label %land.lhs.true.i74

land.lhs.true.i74:
  %buffer.i76 = getelementptr inbounds nuw i8, ptr %arrayidx.i68, i64 4
  %73 = load i32, ptr %buffer.i76, align 4
  %idxprom8.i77 = zext i32 %73 to i64
  %arrayidx9.i78 = getelementptr inbounds nuw %struct.relay_buffer, ptr %buffers, i64 %idxprom8.i77
  %74 = load i64, ptr %arrayidx9.i78, align 8
  %offset1.i79 = getelementptr inbounds nuw i8, ptr %arrayidx.i68, i64 8
  %75 = load i32, ptr %offset1.i79, align 4
  %idxprom2.i80 = zext i32 %75 to i64
  %arrayidx3.i81 = getelementptr inbounds nuw i64, ptr %scalars, i64 %idxprom2.i80
  %76 = load i64, ptr %arrayidx3.i81, align 8
  %77 = load ptr, ptr %download.i, align 8
  %78 = load ptr, ptr %context.i82, align 8
  %79 = load i32, ptr %arrayidx.i68, align 4
  %idxprom10.i83 = zext i32 %79 to i64
  %arrayidx11.i84 = getelementptr inbounds nuw ptr, ptr %arguments, i64 %idxprom10.i83
  %80 = load ptr, ptr %arrayidx11.i84, align 8
  %call12.i85 = tail call i32 %77(ptr %78, ptr %80, i64 %74, i64 %76, i64 %72) nounwind
  %tobool13.not.i86 = icmp eq i32 %call12.i85, 0
  br i1 %tobool13.not.i86, label %land.lhs.true.i74.if.end.i87_crit_edge, label %run.exit

land.lhs.true.i74.if.end.i87_crit_edge:
  %.pre140 = load i32, ptr %download_count.i, align 4
  br label %if.end.i87

if.end.i87:
  %81 = phi i32 [ %.pre140, %land.lhs.true.i74.if.end.i87_crit_edge ], [ %69, %for.body.i66 ]
  %indvars.iv.next137 = add nuw nsw i64 %indvars.iv136, 1
  %82 = zext i32 %81 to i64
  %cmp.i64 = icmp samesign ult i64 %indvars.iv.next137, %82
  br i1 %cmp.i64, label %for.body.i66, label %run.exit

run.exit:
  %retval.1.i = phi i32 [ -8, %is_interrupted.exit ], [ -7, %land.lhs.true.i55 ], [ -7, %make_room.exit ], [ -7, %land.lhs.true9.i ], [ -7, %land.lhs.true.i ], [ %cond.i37114, %cond.end.i ], [ -7, %land.lhs.true.i74 ], [ 0, %for.cond.i62.preheader ], [ 0, %if.end.i87 ], [ -7, %land.lhs.true.i25 ]
  %83 = load ptr, ptr %region, align 8
  %lock.i13 = getelementptr inbounds nuw i8, ptr %83, i64 72
  store atomic i32 0, ptr %lock.i13 release, align 8
  br label %cleanup

cleanup:
  %retval.0 = phi i32 [ %retval.1.i, %run.exit ], [ -6, %entry ]
  ret i32 %retval.0
}

define internal void @relay_device_close(ptr readonly captures(none) %regions, i64 %count) nounwind {
entry:
  %cmp62.not = icmp eq i64 %count, 0
  br i1 %cmp62.not, label %for.cond.cleanup18, label %for.body

for.body:
  %i.063 = phi i64 [ %inc12, %cleanup ], [ 0, %entry ]
  %arrayidx = getelementptr inbounds nuw ptr, ptr %regions, i64 %i.063
  %0 = load ptr, ptr %arrayidx, align 8
  %1 = load ptr, ptr %0, align 8
  %2 = load ptr, ptr %1, align 8
  %tobool.not = icmp eq ptr %2, null
  br i1 %tobool.not, label %cleanup, label %if.end

if.end:
  %recording = getelementptr inbounds nuw i8, ptr %0, i64 56
  %3 = load i64, ptr %recording, align 8
  %tobool.not.i45 = icmp eq i64 %3, 0
  br i1 %tobool.not.i45, label %release.exit49, label %if.then.i46

if.then.i46:
  %release.i47 = getelementptr inbounds nuw i8, ptr %2, i64 24
  %4 = load ptr, ptr %release.i47, align 8
  %context.i48 = getelementptr inbounds nuw i8, ptr %2, i64 8
  %5 = load ptr, ptr %context.i48, align 8
  tail call void %4(ptr %5, i64 %3) nounwind
  br label %release.exit49

release.exit49:
  store i64 0, ptr %recording, align 8
  %module_count = getelementptr inbounds nuw i8, ptr %0, i64 64
  %6 = load i32, ptr %module_count, align 8
  %cmp360.not = icmp eq i32 %6, 0
  br i1 %cmp360.not, label %for.cond.cleanup4, label %for.body5.lr.ph

for.body5.lr.ph:
  %modules = getelementptr inbounds nuw i8, ptr %0, i64 8
  %release.i = getelementptr inbounds nuw i8, ptr %2, i64 24
  %context.i = getelementptr inbounds nuw i8, ptr %2, i64 8
  br label %for.body5

for.cond.cleanup4:
  %7 = load ptr, ptr %0, align 8
  %arena = getelementptr inbounds nuw i8, ptr %7, i64 16
  %8 = load i64, ptr %arena, align 8
  %tobool.not.i54 = icmp eq i64 %8, 0
  br i1 %tobool.not.i54, label %give_back.exit59, label %if.then.i55

if.then.i55:
  %release.i56 = getelementptr inbounds nuw i8, ptr %2, i64 24
  %9 = load ptr, ptr %release.i56, align 8
  %context.i57 = getelementptr inbounds nuw i8, ptr %2, i64 8
  %10 = load ptr, ptr %context.i57, align 8
  tail call void %9(ptr %10, i64 %8) nounwind
  br label %give_back.exit59

give_back.exit59:
  store i64 0, ptr %arena, align 8
  %.compoundliteral.sroa.2.0..sroa_idx.i58 = getelementptr inbounds nuw i8, ptr %7, i64 24
  store i64 0, ptr %.compoundliteral.sroa.2.0..sroa_idx.i58, align 8
  %11 = load ptr, ptr %0, align 8
  %constants = getelementptr inbounds nuw i8, ptr %11, i64 32
  %12 = load i64, ptr %constants, align 8
  %tobool.not.i50 = icmp eq i64 %12, 0
  br i1 %tobool.not.i50, label %give_back.exit, label %if.then.i51

if.then.i51:
  %release.i52 = getelementptr inbounds nuw i8, ptr %2, i64 24
  %13 = load ptr, ptr %release.i52, align 8
  %context.i53 = getelementptr inbounds nuw i8, ptr %2, i64 8
  %14 = load ptr, ptr %context.i53, align 8
  tail call void %13(ptr %14, i64 %12) nounwind
  br label %give_back.exit

give_back.exit:
  store i64 0, ptr %constants, align 8
  %.compoundliteral.sroa.2.0..sroa_idx.i = getelementptr inbounds nuw i8, ptr %11, i64 40
  store i64 0, ptr %.compoundliteral.sroa.2.0..sroa_idx.i, align 8
  %15 = load ptr, ptr %0, align 8
  %has_constants = getelementptr inbounds nuw i8, ptr %15, i64 76
  store i32 0, ptr %has_constants, align 4
  br label %cleanup

for.body5:
  %indvars.iv = phi i64 [ 0, %for.body5.lr.ph ], [ %indvars.iv.next, %release.exit ]
  %16 = load ptr, ptr %modules, align 8
  %arrayidx6 = getelementptr inbounds nuw %struct.device_module, ptr %16, i64 %indvars.iv
  %17 = load i64, ptr %arrayidx6, align 8
  %tobool.not.i = icmp eq i64 %17, 0
  br i1 %tobool.not.i, label %release.exit, label %if.then.i

if.then.i:
  %18 = load ptr, ptr %release.i, align 8
  %19 = load ptr, ptr %context.i, align 8
  tail call void %18(ptr %19, i64 %17) nounwind
  br label %release.exit

release.exit:
  store i64 0, ptr %arrayidx6, align 8
  %indvars.iv.next = add nuw nsw i64 %indvars.iv, 1
  %20 = load i32, ptr %module_count, align 8
  %21 = zext i32 %20 to i64
  %cmp3 = icmp samesign ult i64 %indvars.iv.next, %21
  br i1 %cmp3, label %for.body5, label %for.cond.cleanup4

cleanup:
  %inc12 = add nuw i64 %i.063, 1
  %exitcond.not = icmp eq i64 %inc12, %count
  br i1 %exitcond.not, label %for.body19, label %for.body

for.cond.cleanup18:
  ret void

for.body19:
  %i15.065 = phi i64 [ %inc24, %for.body19 ], [ 0, %cleanup ]
  %arrayidx20 = getelementptr inbounds nuw ptr, ptr %regions, i64 %i15.065
  %22 = load ptr, ptr %arrayidx20, align 8
  %23 = load ptr, ptr %22, align 8
  store ptr null, ptr %23, align 8
  %inc24 = add nuw i64 %i15.065, 1
  %exitcond67.not = icmp eq i64 %inc24, %count
  br i1 %exitcond67.not, label %for.cond.cleanup18, label %for.body19
}

declare i32 @sched_yield()

define internal fastcc noundef i1 @relay_device_bring_constants(ptr captures(none) %device, ptr %constants) noinline nounwind {
entry:
  %0 = load ptr, ptr %device, align 8
  %constants2 = getelementptr inbounds nuw i8, ptr %device, i64 32
  %constant_bytes = getelementptr inbounds nuw i8, ptr %device, i64 64
  %1 = load i64, ptr %constant_bytes, align 8
  %bytes1.i = getelementptr inbounds nuw i8, ptr %device, i64 40
  %2 = load i64, ptr %bytes1.i, align 8
  %cmp.not.i = icmp ult i64 %2, %1
  br i1 %cmp.not.i, label %if.end.i, label %for.cond.preheader

if.end.i:
  %3 = load i64, ptr %constants2, align 8
  %tobool.not.i.i = icmp eq i64 %3, 0
  br i1 %tobool.not.i.i, label %give_back.exit.i, label %if.then.i.i

if.then.i.i:
  %release.i.i = getelementptr inbounds nuw i8, ptr %0, i64 24
  %4 = load ptr, ptr %release.i.i, align 8
  %context.i.i = getelementptr inbounds nuw i8, ptr %0, i64 8
  %5 = load ptr, ptr %context.i.i, align 8
  tail call void %4(ptr %5, i64 %3) nounwind
  br label %give_back.exit.i

give_back.exit.i:
  store i64 0, ptr %constants2, align 8
  store i64 0, ptr %bytes1.i, align 8
  %allocate.i = getelementptr inbounds nuw i8, ptr %0, i64 16
  %6 = load ptr, ptr %allocate.i, align 8
  %context.i = getelementptr inbounds nuw i8, ptr %0, i64 8
  %7 = load ptr, ptr %context.i, align 8
  %call.i = tail call i64 %6(ptr %7, i64 %1) nounwind
  store i64 %call.i, ptr %constants2, align 8
  %tobool.not.i = icmp eq i64 %call.i, 0
  %cond.i = select i1 %tobool.not.i, i64 0, i64 %1
  store i64 %cond.i, ptr %bytes1.i, align 8
  br i1 %tobool.not.i, label %cleanup12, label %for.cond.preheader

for.cond.preheader:
  %constant_count = getelementptr inbounds nuw i8, ptr %device, i64 56
  %8 = load i64, ptr %constant_count, align 8
  %cmp.not27.not = icmp eq i64 %8, 0
  br i1 %cmp.not27.not, label %for.end, label %for.body.lr.ph

for.body.lr.ph:
  %constant_list = getelementptr inbounds nuw i8, ptr %device, i64 48
  %upload = getelementptr inbounds nuw i8, ptr %0, i64 32
  %context = getelementptr inbounds nuw i8, ptr %0, i64 8
  br label %for.body

for.cond:
  %inc = add nuw i64 %i.028, 1
  %9 = load i64, ptr %constant_count, align 8
  %cmp.not = icmp ult i64 %inc, %9
  br i1 %cmp.not, label %for.body, label %for.end

for.body:
  %i.028 = phi i64 [ 0, %for.body.lr.ph ], [ %inc, %for.cond ]
  %10 = load ptr, ptr %constant_list, align 8
  %arrayidx = getelementptr inbounds nuw %struct.device_constant, ptr %10, i64 %i.028
  %11 = load i64, ptr %constants2, align 8
  %12 = load i64, ptr %arrayidx, align 8
  %add.ptr = getelementptr inbounds nuw i8, ptr %constants, i64 %12
  %13 = load ptr, ptr %upload, align 8
  %14 = load ptr, ptr %context, align 8
  %device_offset = getelementptr inbounds nuw i8, ptr %arrayidx, i64 8
  %15 = load i64, ptr %device_offset, align 8
  %bytes = getelementptr inbounds nuw i8, ptr %arrayidx, i64 16
  %16 = load i64, ptr %bytes, align 8
  %call5 = tail call i32 %13(ptr %14, i64 %11, i64 %15, ptr %add.ptr, i64 %16) nounwind
  %tobool.not = icmp eq i32 %call5, 0
  br i1 %tobool.not, label %for.cond, label %cleanup12

for.end:
  %has_constants = getelementptr inbounds nuw i8, ptr %device, i64 76
  store i32 1, ptr %has_constants, align 4
  br label %cleanup12

cleanup12:
  %retval.3 = phi i1 [ true, %for.end ], [ false, %give_back.exit.i ], [ false, %for.body ]
  ret i1 %retval.3
}

define internal fastcc i1 @relay_device_record(ptr readonly captures(none) %table, ptr captures(none) %region) noinline nounwind {
entry:
  %module_count.i = getelementptr inbounds nuw i8, ptr %region, i64 64
  %0 = load i32, ptr %module_count.i, align 8
  %cmp.i26.not = icmp eq i32 %0, 0
  br i1 %cmp.i26.not, label %for.cond.preheader, label %for.body.i.lr.ph

for.body.i.lr.ph:
  %modules.i = getelementptr inbounds nuw i8, ptr %region, i64 8
  %load.i = getelementptr inbounds nuw i8, ptr %table, i64 56
  %context.i = getelementptr inbounds nuw i8, ptr %table, i64 8
  br label %for.body.i

for.cond.preheader:
  %command_count = getelementptr inbounds nuw i8, ptr %region, i64 68
  %1 = load i32, ptr %command_count, align 4
  %cmp28.not = icmp eq i32 %1, 0
  br i1 %cmp28.not, label %for.cond.cleanup, label %for.body.lr.ph

for.body.lr.ph:
  %modules = getelementptr inbounds nuw i8, ptr %region, i64 8
  %command_modules = getelementptr inbounds nuw i8, ptr %region, i64 24
  %commands = getelementptr inbounds nuw i8, ptr %region, i64 16
  br label %for.body

for.body.i:
  %2 = phi i32 [ %0, %for.body.i.lr.ph ], [ %10, %for.inc.i ]
  %indvars.iv = phi i64 [ 0, %for.body.i.lr.ph ], [ %indvars.iv.next, %for.inc.i ]
  %3 = load ptr, ptr %modules.i, align 8
  %arrayidx.i = getelementptr inbounds nuw %struct.device_module, ptr %3, i64 %indvars.iv
  %4 = load i64, ptr %arrayidx.i, align 8
  %tobool.not.i = icmp eq i64 %4, 0
  br i1 %tobool.not.i, label %if.end.i, label %for.inc.i

if.end.i:
  %5 = load ptr, ptr %load.i, align 8
  %6 = load ptr, ptr %context.i, align 8
  %format.i = getelementptr inbounds nuw i8, ptr %arrayidx.i, i64 8
  %7 = load ptr, ptr %format.i, align 8
  %data.i = getelementptr inbounds nuw i8, ptr %arrayidx.i, i64 16
  %8 = load ptr, ptr %data.i, align 8
  %bytes.i = getelementptr inbounds nuw i8, ptr %arrayidx.i, i64 24
  %9 = load i64, ptr %bytes.i, align 8
  %call.i = tail call i64 %5(ptr %6, ptr %7, ptr %8, i64 %9) nounwind
  store i64 %call.i, ptr %arrayidx.i, align 8
  %tobool3.not.not.i = icmp eq i64 %call.i, 0
  br i1 %tobool3.not.not.i, label %return, label %if.end.i.for.inc.i_crit_edge

if.end.i.for.inc.i_crit_edge:
  %.pre = load i32, ptr %module_count.i, align 8
  br label %for.inc.i

for.inc.i:
  %10 = phi i32 [ %.pre, %if.end.i.for.inc.i_crit_edge ], [ %2, %for.body.i ]
  %indvars.iv.next = add nuw nsw i64 %indvars.iv, 1
  %11 = zext i32 %10 to i64
  %cmp.i = icmp samesign ult i64 %indvars.iv.next, %11
  br i1 %cmp.i, label %for.body.i, label %for.cond.preheader

for.cond.cleanup.loopexit:
  %12 = zext i32 %21 to i64
  br label %for.cond.cleanup

for.cond.cleanup:
  %.lcssa = phi i64 [ %12, %for.cond.cleanup.loopexit ], [ 0, %for.cond.preheader ]
  %record = getelementptr inbounds nuw i8, ptr %table, i64 64
  %13 = load ptr, ptr %record, align 8
  %context = getelementptr inbounds nuw i8, ptr %table, i64 8
  %14 = load ptr, ptr %context, align 8
  %commands5 = getelementptr inbounds nuw i8, ptr %region, i64 16
  %15 = load ptr, ptr %commands5, align 8
  %call7 = tail call i64 %13(ptr %14, ptr %15, i64 %.lcssa) nounwind
  %recording = getelementptr inbounds nuw i8, ptr %region, i64 56
  store i64 %call7, ptr %recording, align 8
  %cmp9 = icmp ne i64 %call7, 0
  br label %return

for.body:
  %indvars.iv32 = phi i64 [ 0, %for.body.lr.ph ], [ %indvars.iv.next33, %for.body ]
  %16 = load ptr, ptr %modules, align 8
  %17 = load ptr, ptr %command_modules, align 8
  %arrayidx = getelementptr inbounds nuw i32, ptr %17, i64 %indvars.iv32
  %18 = load i32, ptr %arrayidx, align 4
  %idxprom1 = zext i32 %18 to i64
  %arrayidx2 = getelementptr inbounds nuw %struct.device_module, ptr %16, i64 %idxprom1
  %19 = load i64, ptr %arrayidx2, align 8
  %20 = load ptr, ptr %commands, align 8
  %arrayidx4 = getelementptr inbounds nuw %struct.relay_command, ptr %20, i64 %indvars.iv32
  store i64 %19, ptr %arrayidx4, align 8
  %indvars.iv.next33 = add nuw nsw i64 %indvars.iv32, 1
  %21 = load i32, ptr %command_count, align 4
  %22 = zext i32 %21 to i64
  %cmp = icmp samesign ult i64 %indvars.iv.next33, %22
  br i1 %cmp, label %for.body, label %for.cond.cleanup.loopexit

return:
  %retval.0 = phi i1 [ %cmp9, %for.cond.cleanup ], [ false, %if.end.i ]
  ret i1 %retval.0
}
