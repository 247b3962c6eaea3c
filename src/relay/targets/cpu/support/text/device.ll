; Made of device/run.c by `python -m relay.targets.cpu.support.generate`.

%struct.relay_buffer = type { i64, i64 }
%struct.device_transfer = type { i32, i32, i32 }
%struct.device_module = type { i64, ptr, ptr, i64 }
%struct.device_constant = type { i64, i64, i64 }
%struct.relay_command = type { i64, ptr, [3 x i32], [3 x i32], i32, i32, ptr }

define internal range(i32 -7, 1) i32 @relay_device_run(ptr captures(none) %region, ptr readonly captures(none) %arguments, ptr %scalars, ptr %constants, i64 %constant_bytes) nounwind {
entry:
  %buffers.i = alloca [2 x %struct.relay_buffer], align 16
  %0 = load ptr, ptr %region, align 8
  %1 = load ptr, ptr %0, align 8
  %tobool.not = icmp eq ptr %1, null
  br i1 %tobool.not, label %cleanup, label %while.cond.i.preheader

while.cond.i.preheader:
  %lock.i = getelementptr inbounds nuw i8, ptr %0, i64 40
  %2 = atomicrmw xchg ptr %lock.i, i32 1 acquire, align 8
  %tobool.not.i30 = icmp eq i32 %2, 0
  br i1 %tobool.not.i30, label %lock.exit, label %while.body.i

while.body.i:
  %call.i = tail call i32 @sched_yield() nounwind
  %3 = atomicrmw xchg ptr %lock.i, i32 1 acquire, align 8
  %tobool.not.i = icmp eq i32 %3, 0
  br i1 %tobool.not.i, label %lock.exit, label %while.body.i

lock.exit:
  %recording = getelementptr inbounds nuw i8, ptr %region, i64 56
  %4 = load i64, ptr %recording, align 8
  %tobool3.not = icmp eq i64 %4, 0
  br i1 %tobool3.not, label %lor.lhs.false, label %land.rhs

lor.lhs.false:
  %call = tail call fastcc i1 @relay_device_prepare(ptr %1, ptr nonnull %region, ptr %constants, i64 %constant_bytes)
  br i1 %call, label %land.rhs, label %land.end

land.rhs:
  %5 = load ptr, ptr %region, align 8
  %arena.i = getelementptr inbounds nuw i8, ptr %5, i64 8
  %arena_bytes.i = getelementptr inbounds nuw i8, ptr %region, i64 84
  %6 = load i32, ptr %arena_bytes.i, align 4
  %idxprom.i = zext i32 %6 to i64
  %arrayidx.i = getelementptr inbounds nuw i64, ptr %scalars, i64 %idxprom.i
  %7 = load i64, ptr %arrayidx.i, align 8
  %bytes1.i = getelementptr inbounds nuw i8, ptr %5, i64 16
  %8 = load i64, ptr %bytes1.i, align 8
  %cmp.not.i16 = icmp ult i64 %8, %7
  br i1 %cmp.not.i16, label %if.end.i, label %for.cond.i.preheader

if.end.i:
  %9 = load i64, ptr %arena.i, align 8
  %tobool.not.i17 = icmp eq i64 %9, 0
  br i1 %tobool.not.i17, label %if.end4.i, label %if.then2.i

if.then2.i:
  %release.i = getelementptr inbounds nuw i8, ptr %1, i64 24
  %10 = load ptr, ptr %release.i, align 8
  %context.i18 = getelementptr inbounds nuw i8, ptr %1, i64 8
  %11 = load ptr, ptr %context.i18, align 8
  tail call void %10(ptr %11, i64 %9) nounwind
  br label %if.end4.i

if.end4.i:
  %allocate.i = getelementptr inbounds nuw i8, ptr %1, i64 16
  %12 = load ptr, ptr %allocate.i, align 8
  %context5.i = getelementptr inbounds nuw i8, ptr %1, i64 8
  %13 = load ptr, ptr %context5.i, align 8
  %call.i19 = tail call i64 %12(ptr %13, i64 %7) nounwind
  store i64 %call.i19, ptr %arena.i, align 8
  %tobool8.not.i = icmp eq i64 %call.i19, 0
  %cond.i = select i1 %tobool8.not.i, i64 0, i64 %7
  store i64 %cond.i, ptr %bytes1.i, align 8
  br i1 %tobool8.not.i, label %land.end, label %for.cond.i.preheader

for.cond.i.preheader:
  %upload_count.i = getelementptr inbounds nuw i8, ptr %region, i64 72
  %14 = load i32, ptr %upload_count.i, align 8
  %cmp.not.i31.not = icmp eq i32 %14, 0
  br i1 %cmp.not.i31.not, label %for.end.i, label %for.body.i.lr.ph

for.body.i.lr.ph:
  %uploads.i = getelementptr inbounds nuw i8, ptr %region, i64 32
  %upload.i = getelementptr inbounds nuw i8, ptr %1, i64 32
  %context.i = getelementptr inbounds nuw i8, ptr %1, i64 8
  br label %for.body.i

for.cond.i:
  %indvars.iv.next = add nuw nsw i64 %indvars.iv, 1
  %15 = load i32, ptr %upload_count.i, align 8
  %16 = zext i32 %15 to i64
  %cmp.not.i = icmp samesign ult i64 %indvars.iv.next, %16
  br i1 %cmp.not.i, label %for.body.i, label %for.end.i

for.body.i:
  %indvars.iv = phi i64 [ 0, %for.body.i.lr.ph ], [ %indvars.iv.next, %for.cond.i ]
  %17 = load ptr, ptr %uploads.i, align 8
  %arrayidx3.i = getelementptr inbounds nuw %struct.device_transfer, ptr %17, i64 %indvars.iv
  %offset4.i = getelementptr inbounds nuw i8, ptr %arrayidx3.i, i64 4
  %18 = load i32, ptr %offset4.i, align 4
  %idxprom5.i = zext i32 %18 to i64
  %arrayidx6.i = getelementptr inbounds nuw i64, ptr %scalars, i64 %idxprom5.i
  %19 = load i64, ptr %arrayidx6.i, align 8
  %bytes7.i = getelementptr inbounds nuw i8, ptr %arrayidx3.i, i64 8
  %20 = load i32, ptr %bytes7.i, align 4
  %idxprom8.i = zext i32 %20 to i64
  %arrayidx9.i = getelementptr inbounds nuw i64, ptr %scalars, i64 %idxprom8.i
  %21 = load i64, ptr %arrayidx9.i, align 8
  %22 = load ptr, ptr %upload.i, align 8
  %23 = load ptr, ptr %context.i, align 8
  %24 = load i64, ptr %arena.i, align 8
  %25 = load i32, ptr %arrayidx3.i, align 4
  %idxprom11.i = zext i32 %25 to i64
  %arrayidx12.i = getelementptr inbounds nuw ptr, ptr %arguments, i64 %idxprom11.i
  %26 = load ptr, ptr %arrayidx12.i, align 8
  %call13.i = tail call i32 %22(ptr %23, i64 %24, i64 %19, ptr %26, i64 %21) nounwind
  %tobool.not.i14 = icmp eq i32 %call13.i, 0
  br i1 %tobool.not.i14, label %for.cond.i, label %land.end

for.end.i:
  call void @llvm.lifetime.start.p0(ptr nonnull %buffers.i) nounwind
  call void @llvm.memcpy.p0.p0.i64(ptr noundef nonnull align 16 dereferenceable(16) %buffers.i, ptr noundef nonnull align 8 dereferenceable(16) %arena.i, i64 16, i1 false)
  %arrayinit.element.i = getelementptr inbounds nuw i8, ptr %buffers.i, i64 16
  %constants.i = getelementptr inbounds nuw i8, ptr %5, i64 24
  call void @llvm.memcpy.p0.p0.i64(ptr noundef nonnull align 16 dereferenceable(16) %arrayinit.element.i, ptr noundef nonnull align 8 dereferenceable(16) %constants.i, i64 16, i1 false)
  %submit.i = getelementptr inbounds nuw i8, ptr %1, i64 72
  %27 = load ptr, ptr %submit.i, align 8
  %context21.i = getelementptr inbounds nuw i8, ptr %1, i64 8
  %28 = load ptr, ptr %context21.i, align 8
  %29 = load i64, ptr %recording, align 8
  %scalar_count.i = getelementptr inbounds nuw i8, ptr %region, i64 88
  %30 = load i32, ptr %scalar_count.i, align 8
  %conv.i = zext i32 %30 to i64
  %call22.i = call i64 %27(ptr %28, i64 %29, ptr nonnull %buffers.i, i64 2, ptr nonnull %scalars, i64 %conv.i) nounwind
  %tobool23.not.i = icmp eq i64 %call22.i, 0
  br i1 %tobool23.not.i, label %land.end.sink.split, label %do.body.i.preheader

do.body.i.preheader:
  %is_lost.i = getelementptr inbounds nuw i8, ptr %1, i64 104
  %wait.i = getelementptr inbounds nuw i8, ptr %1, i64 80
  br label %do.body.i

do.body.i:
  %31 = load ptr, ptr %wait.i, align 8
  %32 = load ptr, ptr %context21.i, align 8
  %call.i21 = call i32 %31(ptr %32, i64 range(i64 1, 0) %call22.i, i64 1000000000) nounwind
  %cmp.i = icmp eq i32 %call.i21, 1
  br i1 %cmp.i, label %land.rhs.i, label %finished.exit

land.rhs.i:
  %33 = load ptr, ptr %is_lost.i, align 8
  %34 = load ptr, ptr %context21.i, align 8
  %call2.i = call i32 %33(ptr %34) nounwind
  %tobool.not.i23 = icmp eq i32 %call2.i, 0
  br i1 %tobool.not.i23, label %do.body.i, label %finished.exit

finished.exit:
  %release.i22 = getelementptr inbounds nuw i8, ptr %1, i64 24
  %35 = load ptr, ptr %release.i22, align 8
  %36 = load ptr, ptr %context21.i, align 8
  call void %35(ptr %36, i64 range(i64 1, 0) %call22.i) nounwind
  %cmp4.i = icmp eq i32 %call.i21, 0
  br i1 %cmp4.i, label %for.cond28.i.preheader, label %land.end.sink.split

for.cond28.i.preheader:
  %download_count.i = getelementptr inbounds nuw i8, ptr %region, i64 76
  %37 = load i32, ptr %download_count.i, align 4
  %cmp29.not.i33.not = icmp eq i32 %37, 0
  br i1 %cmp29.not.i33.not, label %land.end.sink.split, label %for.body32.i.lr.ph

for.body32.i.lr.ph:
  %downloads.i = getelementptr inbounds nuw i8, ptr %region, i64 40
  %download.i = getelementptr inbounds nuw i8, ptr %1, i64 40
  br label %for.body32.i

for.cond28.i:
  %indvars.iv.next37 = add nuw nsw i64 %indvars.iv36, 1
  %38 = load i32, ptr %download_count.i, align 4
  %39 = zext i32 %38 to i64
  %cmp29.not.i = icmp samesign ult i64 %indvars.iv.next37, %39
  br i1 %cmp29.not.i, label %for.body32.i, label %land.end.sink.split

for.body32.i:
  %indvars.iv36 = phi i64 [ 0, %for.body32.i.lr.ph ], [ %indvars.iv.next37, %for.cond28.i ]
  %40 = load ptr, ptr %downloads.i, align 8
  %arrayidx35.i = getelementptr inbounds nuw %struct.device_transfer, ptr %40, i64 %indvars.iv36
  %offset37.i = getelementptr inbounds nuw i8, ptr %arrayidx35.i, i64 4
  %41 = load i32, ptr %offset37.i, align 4
  %idxprom38.i = zext i32 %41 to i64
  %arrayidx39.i = getelementptr inbounds nuw i64, ptr %scalars, i64 %idxprom38.i
  %42 = load i64, ptr %arrayidx39.i, align 8
  %bytes41.i = getelementptr inbounds nuw i8, ptr %arrayidx35.i, i64 8
  %43 = load i32, ptr %bytes41.i, align 4
  %idxprom42.i = zext i32 %43 to i64
  %arrayidx43.i = getelementptr inbounds nuw i64, ptr %scalars, i64 %idxprom42.i
  %44 = load i64, ptr %arrayidx43.i, align 8
  %45 = load ptr, ptr %download.i, align 8
  %46 = load ptr, ptr %context21.i, align 8
  %47 = load i32, ptr %arrayidx35.i, align 4
  %idxprom46.i = zext i32 %47 to i64
  %arrayidx47.i = getelementptr inbounds nuw ptr, ptr %arguments, i64 %idxprom46.i
  %48 = load ptr, ptr %arrayidx47.i, align 8
  %49 = load i64, ptr %arena.i, align 8
  %call50.i = call i32 %45(ptr %46, ptr %48, i64 %49, i64 %42, i64 %44) nounwind
  %tobool51.not.i = icmp eq i32 %call50.i, 0
  br i1 %tobool51.not.i, label %for.cond28.i, label %land.end.sink.split

land.end.sink.split:
  %cond.ph = phi i32 [ 0, %for.cond28.i.preheader ], [ -7, %finished.exit ], [ -7, %for.end.i ], [ -7, %for.body32.i ], [ 0, %for.cond28.i ]
  call void @llvm.lifetime.end.p0(ptr nonnull %buffers.i) nounwind
  br label %land.end

land.end:
  %cond = phi i32 [ -7, %lor.lhs.false ], [ %cond.ph, %land.end.sink.split ], [ -7, %if.end4.i ], [ -7, %for.body.i ]
  %50 = load ptr, ptr %region, align 8
  %lock.i15 = getelementptr inbounds nuw i8, ptr %50, i64 40
  store atomic i32 0, ptr %lock.i15 release, align 8
  br label %cleanup

cleanup:
  %retval.0 = phi i32 [ %cond, %land.end ], [ -6, %entry ]
  ret i32 %retval.0
}

define internal fastcc i1 @relay_device_prepare(ptr nonnull readonly captures(none) %table, ptr captures(none) %region, ptr %constants, i64 %constant_bytes) noinline nounwind {
entry:
  %module_count.i = getelementptr inbounds nuw i8, ptr %region, i64 64
  %0 = load i32, ptr %module_count.i, align 8
  %cmp.i55.not = icmp eq i32 %0, 0
  br i1 %cmp.i55.not, label %lor.lhs.false, label %for.body.i.lr.ph

for.body.i.lr.ph:
  %modules.i = getelementptr inbounds nuw i8, ptr %region, i64 8
  %load.i = getelementptr inbounds nuw i8, ptr %table, i64 56
  %context.i = getelementptr inbounds nuw i8, ptr %table, i64 8
  br label %for.body.i

for.body.i:
  %1 = phi i32 [ %0, %for.body.i.lr.ph ], [ %9, %for.inc.i ]
  %indvars.iv = phi i64 [ 0, %for.body.i.lr.ph ], [ %indvars.iv.next, %for.inc.i ]
  %2 = load ptr, ptr %modules.i, align 8
  %arrayidx.i = getelementptr inbounds nuw %struct.device_module, ptr %2, i64 %indvars.iv
  %3 = load i64, ptr %arrayidx.i, align 8
  %tobool.not.i = icmp eq i64 %3, 0
  br i1 %tobool.not.i, label %if.end.i, label %for.inc.i

if.end.i:
  %4 = load ptr, ptr %load.i, align 8
  %5 = load ptr, ptr %context.i, align 8
  %format.i = getelementptr inbounds nuw i8, ptr %arrayidx.i, i64 8
  %6 = load ptr, ptr %format.i, align 8
  %data.i = getelementptr inbounds nuw i8, ptr %arrayidx.i, i64 16
  %7 = load ptr, ptr %data.i, align 8
  %bytes.i = getelementptr inbounds nuw i8, ptr %arrayidx.i, i64 24
  %8 = load i64, ptr %bytes.i, align 8
  %call.i = tail call i64 %4(ptr %5, ptr %6, ptr %7, i64 %8) nounwind
  store i64 %call.i, ptr %arrayidx.i, align 8
  %tobool3.not.not.i = icmp eq i64 %call.i, 0
  br i1 %tobool3.not.not.i, label %return, label %if.end.i.for.inc.i_crit_edge

if.end.i.for.inc.i_crit_edge:
  %.pre = load i32, ptr %module_count.i, align 8
  br label %for.inc.i

for.inc.i:
  %9 = phi i32 [ %.pre, %if.end.i.for.inc.i_crit_edge ], [ %1, %for.body.i ]
  %indvars.iv.next = add nuw nsw i64 %indvars.iv, 1
  %10 = zext i32 %9 to i64
  %cmp.i = icmp samesign ult i64 %indvars.iv.next, %10
  br i1 %cmp.i, label %for.body.i, label %lor.lhs.false

lor.lhs.false:
  %11 = load ptr, ptr %region, align 8
  %constants1 = getelementptr inbounds nuw i8, ptr %11, i64 24
  %bytes1.i = getelementptr inbounds nuw i8, ptr %11, i64 32
  %12 = load i64, ptr %bytes1.i, align 8
  %cmp.not.i = icmp ult i64 %12, %constant_bytes
  br i1 %cmp.not.i, label %if.end.i33, label %if.end

if.end.i33:
  %13 = load i64, ptr %constants1, align 8
  %tobool.not.i34 = icmp eq i64 %13, 0
  br i1 %tobool.not.i34, label %make_room.exit, label %if.then2.i

if.then2.i:
  %release.i = getelementptr inbounds nuw i8, ptr %table, i64 24
  %14 = load ptr, ptr %release.i, align 8
  %context.i35 = getelementptr inbounds nuw i8, ptr %table, i64 8
  %15 = load ptr, ptr %context.i35, align 8
  tail call void %14(ptr %15, i64 %13) nounwind
  br label %make_room.exit

make_room.exit:
  %allocate.i = getelementptr inbounds nuw i8, ptr %table, i64 16
  %16 = load ptr, ptr %allocate.i, align 8
  %context5.i = getelementptr inbounds nuw i8, ptr %table, i64 8
  %17 = load ptr, ptr %context5.i, align 8
  %call.i36 = tail call i64 %16(ptr %17, i64 %constant_bytes) nounwind
  store i64 %call.i36, ptr %constants1, align 8
  %tobool8.not.i = icmp eq i64 %call.i36, 0
  %cond.i = select i1 %tobool8.not.i, i64 0, i64 %constant_bytes
  store i64 %cond.i, ptr %bytes1.i, align 8
  br i1 %tobool8.not.i, label %return, label %if.end

if.end:
  %constant_count.i = getelementptr inbounds nuw i8, ptr %region, i64 80
  %18 = load i32, ptr %constant_count.i, align 8
  %cmp.i3957.not = icmp eq i32 %18, 0
  br i1 %cmp.i3957.not, label %for.cond.preheader, label %for.body.i41.lr.ph

for.body.i41.lr.ph:
  %constants1.i = getelementptr inbounds nuw i8, ptr %region, i64 48
  %upload.i = getelementptr inbounds nuw i8, ptr %table, i64 32
  %context.i44 = getelementptr inbounds nuw i8, ptr %table, i64 8
  br label %for.body.i41

for.cond.i37:
  %indvars.iv.next65 = add nuw nsw i64 %indvars.iv64, 1
  %19 = load i32, ptr %constant_count.i, align 8
  %20 = zext i32 %19 to i64
  %cmp.i39 = icmp samesign ult i64 %indvars.iv.next65, %20
  br i1 %cmp.i39, label %for.body.i41, label %for.cond.preheader

for.cond.preheader:
  %command_count = getelementptr inbounds nuw i8, ptr %region, i64 68
  %21 = load i32, ptr %command_count, align 4
  %cmp59.not = icmp eq i32 %21, 0
  br i1 %cmp59.not, label %for.cond.cleanup, label %for.body.lr.ph

for.body.lr.ph:
  %modules = getelementptr inbounds nuw i8, ptr %region, i64 8
  %command_modules = getelementptr inbounds nuw i8, ptr %region, i64 24
  %commands = getelementptr inbounds nuw i8, ptr %region, i64 16
  br label %for.body

for.body.i41:
  %indvars.iv64 = phi i64 [ 0, %for.body.i41.lr.ph ], [ %indvars.iv.next65, %for.cond.i37 ]
  %22 = load ptr, ptr %constants1.i, align 8
  %arrayidx.i43 = getelementptr inbounds nuw %struct.device_constant, ptr %22, i64 %indvars.iv64
  %23 = load ptr, ptr %region, align 8
  %constants2.i = getelementptr inbounds nuw i8, ptr %23, i64 24
  %24 = load i64, ptr %constants2.i, align 8
  %25 = load i64, ptr %arrayidx.i43, align 8
  %add.ptr.i = getelementptr inbounds nuw i8, ptr %constants, i64 %25
  %26 = load ptr, ptr %upload.i, align 8
  %27 = load ptr, ptr %context.i44, align 8
  %device_offset.i = getelementptr inbounds nuw i8, ptr %arrayidx.i43, i64 8
  %28 = load i64, ptr %device_offset.i, align 8
  %bytes.i45 = getelementptr inbounds nuw i8, ptr %arrayidx.i43, i64 16
  %29 = load i64, ptr %bytes.i45, align 8
  %call.i46 = tail call i32 %26(ptr %27, i64 %24, i64 %28, ptr %add.ptr.i, i64 %29) nounwind
  %tobool.not.i47 = icmp eq i32 %call.i46, 0
  br i1 %tobool.not.i47, label %for.cond.i37, label %return

for.cond.cleanup.loopexit:
  %30 = zext i32 %39 to i64
  br label %for.cond.cleanup

for.cond.cleanup:
  %.lcssa = phi i64 [ %30, %for.cond.cleanup.loopexit ], [ 0, %for.cond.preheader ]
  %record = getelementptr inbounds nuw i8, ptr %table, i64 64
  %31 = load ptr, ptr %record, align 8
  %context = getelementptr inbounds nuw i8, ptr %table, i64 8
  %32 = load ptr, ptr %context, align 8
  %commands10 = getelementptr inbounds nuw i8, ptr %region, i64 16
  %33 = load ptr, ptr %commands10, align 8
  %call12 = tail call i64 %31(ptr %32, ptr %33, i64 %.lcssa) nounwind
  %recording = getelementptr inbounds nuw i8, ptr %region, i64 56
  store i64 %call12, ptr %recording, align 8
  %cmp14 = icmp ne i64 %call12, 0
  br label %return

for.body:
  %indvars.iv67 = phi i64 [ 0, %for.body.lr.ph ], [ %indvars.iv.next68, %for.body ]
  %34 = load ptr, ptr %modules, align 8
  %35 = load ptr, ptr %command_modules, align 8
  %arrayidx = getelementptr inbounds nuw i32, ptr %35, i64 %indvars.iv67
  %36 = load i32, ptr %arrayidx, align 4
  %idxprom6 = zext i32 %36 to i64
  %arrayidx7 = getelementptr inbounds nuw %struct.device_module, ptr %34, i64 %idxprom6
  %37 = load i64, ptr %arrayidx7, align 8
  %38 = load ptr, ptr %commands, align 8
  %arrayidx9 = getelementptr inbounds nuw %struct.relay_command, ptr %38, i64 %indvars.iv67
  store i64 %37, ptr %arrayidx9, align 8
  %indvars.iv.next68 = add nuw nsw i64 %indvars.iv67, 1
  %39 = load i32, ptr %command_count, align 4
  %40 = zext i32 %39 to i64
  %cmp = icmp samesign ult i64 %indvars.iv.next68, %40
  br i1 %cmp, label %for.body, label %for.cond.cleanup.loopexit

return:
  %retval.0 = phi i1 [ %cmp14, %for.cond.cleanup ], [ false, %for.body.i41 ], [ false, %make_room.exit ], [ false, %if.end.i ]
  ret i1 %retval.0
}

define internal void @relay_device_close(ptr readonly captures(none) %regions, i64 %count) nounwind {
entry:
  %cmp75.not = icmp eq i64 %count, 0
  br i1 %cmp75.not, label %for.cond.cleanup, label %for.body

for.cond.cleanup:
  ret void

for.body:
  %i.076 = phi i64 [ %inc44, %cleanup ], [ 0, %entry ]
  %arrayidx = getelementptr inbounds nuw ptr, ptr %regions, i64 %i.076
  %0 = load ptr, ptr %arrayidx, align 8
  %1 = load ptr, ptr %0, align 8
  %2 = load ptr, ptr %1, align 8
  %tobool.not = icmp eq ptr %2, null
  br i1 %tobool.not, label %cleanup, label %if.end

if.end:
  %recording = getelementptr inbounds nuw i8, ptr %0, i64 56
  %3 = load i64, ptr %recording, align 8
  %tobool2.not = icmp eq i64 %3, 0
  br i1 %tobool2.not, label %if.end5, label %if.then3

if.then3:
  %release = getelementptr inbounds nuw i8, ptr %2, i64 24
  %4 = load ptr, ptr %release, align 8
  %context = getelementptr inbounds nuw i8, ptr %2, i64 8
  %5 = load ptr, ptr %context, align 8
  tail call void %4(ptr %5, i64 %3) nounwind
  br label %if.end5

if.end5:
  %module_count = getelementptr inbounds nuw i8, ptr %0, i64 64
  %6 = load i32, ptr %module_count, align 8
  %cmp772.not = icmp eq i32 %6, 0
  br i1 %cmp772.not, label %for.cond.cleanup8, label %for.body9.lr.ph

for.body9.lr.ph:
  %modules = getelementptr inbounds nuw i8, ptr %0, i64 8
  %release13 = getelementptr inbounds nuw i8, ptr %2, i64 24
  %context14 = getelementptr inbounds nuw i8, ptr %2, i64 8
  br label %for.body9

for.cond.cleanup8:
  %7 = load ptr, ptr %0, align 8
  %arena = getelementptr inbounds nuw i8, ptr %7, i64 8
  %constants = getelementptr inbounds nuw i8, ptr %7, i64 24
  %release30 = getelementptr inbounds nuw i8, ptr %2, i64 24
  %context31 = getelementptr inbounds nuw i8, ptr %2, i64 8
  br label %for.body25

for.body9:
  %8 = phi i32 [ %6, %for.body9.lr.ph ], [ %13, %for.inc ]
  %indvars.iv = phi i64 [ 0, %for.body9.lr.ph ], [ %indvars.iv.next, %for.inc ]
  %9 = load ptr, ptr %modules, align 8
  %arrayidx10 = getelementptr inbounds nuw %struct.device_module, ptr %9, i64 %indvars.iv
  %10 = load i64, ptr %arrayidx10, align 8
  %tobool11.not = icmp eq i64 %10, 0
  br i1 %tobool11.not, label %for.inc, label %if.then12

if.then12:
  %11 = load ptr, ptr %release13, align 8
  %12 = load ptr, ptr %context14, align 8
  tail call void %11(ptr %12, i64 %10) nounwind
  %.pre = load i32, ptr %module_count, align 8
  br label %for.inc

for.inc:
  %13 = phi i32 [ %8, %for.body9 ], [ %.pre, %if.then12 ]
  %indvars.iv.next = add nuw nsw i64 %indvars.iv, 1
  %14 = zext i32 %13 to i64
  %cmp7 = icmp samesign ult i64 %indvars.iv.next, %14
  br i1 %cmp7, label %for.body9, label %for.cond.cleanup8

for.body25:
  %cmp23 = phi i1 [ true, %for.cond.cleanup8 ], [ false, %if.end35 ]
  %indvars.iv78.sroa.phi.sroa.speculated = phi ptr [ %arena, %for.cond.cleanup8 ], [ %constants, %if.end35 ]
  %15 = load i64, ptr %indvars.iv78.sroa.phi.sroa.speculated, align 8
  %tobool28.not = icmp eq i64 %15, 0
  br i1 %tobool28.not, label %if.end35, label %if.then29

if.then29:
  %16 = load ptr, ptr %release30, align 8
  %17 = load ptr, ptr %context31, align 8
  tail call void %16(ptr %17, i64 %15) nounwind
  br label %if.end35

if.end35:
  store i64 0, ptr %indvars.iv78.sroa.phi.sroa.speculated, align 8
  %.compoundliteral.sroa.2.0..sroa_idx = getelementptr inbounds nuw i8, ptr %indvars.iv78.sroa.phi.sroa.speculated, i64 8
  store i64 0, ptr %.compoundliteral.sroa.2.0..sroa_idx, align 8
  br i1 %cmp23, label %for.body25, label %cleanup

cleanup:
  %inc44 = add nuw i64 %i.076, 1
  %exitcond.not = icmp eq i64 %inc44, %count
  br i1 %exitcond.not, label %for.cond.cleanup, label %for.body
}

declare i32 @sched_yield()
