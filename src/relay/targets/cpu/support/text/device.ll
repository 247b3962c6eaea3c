; Made of device/run.c by `python -m relay.targets.cpu.support.generate`.

%struct.device_transfer = type { i32, i32, i32, i32 }
%struct.relay_buffer = type { i64, i64 }
%struct.device_copy = type { i32, i32, i32, i32, i32 }
%struct.device_module = type { i64, ptr, ptr, i64 }
%struct.device_constant = type { i64, i64, i64 }
%struct.relay_command = type { i64, ptr, [3 x i32], [3 x i32], i32, i32, ptr }

define internal range(i32 -8, 1) i32 @relay_device_run(ptr captures(none) %region, ptr readonly captures(none) %arguments, ptr %buffers, ptr %scalars, ptr %constants) nounwind {
entry:
  %device = getelementptr inbounds nuw i8, ptr %region, i64 8
  %0 = load ptr, ptr %device, align 8
  %1 = load ptr, ptr %0, align 8
  %tobool.not = icmp eq ptr %1, null
  br i1 %tobool.not, label %cleanup, label %while.cond.i.preheader

while.cond.i.preheader:
  %lock.i = getelementptr inbounds nuw i8, ptr %0, i64 72
  %2 = atomicrmw xchg ptr %lock.i, i32 1 acquire, align 8
  %tobool.not.i160 = icmp eq i32 %2, 0
  br i1 %tobool.not.i160, label %lock.exit, label %while.body.i

while.body.i:
  %call.i = tail call i32 @sched_yield() nounwind
  %3 = atomicrmw xchg ptr %lock.i, i32 1 acquire, align 8
  %tobool.not.i = icmp eq i32 %3, 0
  br i1 %tobool.not.i, label %lock.exit, label %while.body.i

lock.exit:
  %table_bytes = getelementptr inbounds nuw i8, ptr %1, i64 4
  %4 = load i32, ptr %table_bytes, align 4
  %cmp = icmp ugt i32 %4, 127
  br i1 %cmp, label %land.lhs.true, label %if.end12

land.lhs.true:
  %begin_region = getelementptr inbounds nuw i8, ptr %1, i64 120
  %5 = load ptr, ptr %begin_region, align 8
  %tobool9.not = icmp eq ptr %5, null
  br i1 %tobool9.not, label %if.end12, label %if.then10

if.then10:
  %context = getelementptr inbounds nuw i8, ptr %1, i64 8
  %6 = load ptr, ptr %context, align 8
  %7 = load ptr, ptr %region, align 8
  tail call void %5(ptr %6, ptr %7) nounwind
  br label %if.end12

if.end12:
  %8 = load ptr, ptr %device, align 8
  %9 = load ptr, ptr %8, align 8
  %interrupted.i = getelementptr inbounds nuw i8, ptr %8, i64 8
  %10 = load ptr, ptr %interrupted.i, align 8
  %tobool.not.i43 = icmp eq ptr %10, null
  br i1 %tobool.not.i43, label %if.end.i, label %is_interrupted.exit

is_interrupted.exit:
  %call.i45 = tail call i32 %10() nounwind
  %tobool2.i.not = icmp eq i32 %call.i45, 0
  br i1 %tobool2.i.not, label %if.end.i, label %run.exit

if.end.i:
  %has_constants.i = getelementptr inbounds nuw i8, ptr %8, i64 76
  %11 = load i32, ptr %has_constants.i, align 4
  %tobool.not.i41 = icmp eq i32 %11, 0
  br i1 %tobool.not.i41, label %land.lhs.true.i, label %if.end5.i

land.lhs.true.i:
  %call3.i = tail call fastcc i1 @relay_device_bring_constants(ptr nonnull %8, ptr %constants)
  br i1 %call3.i, label %if.end5.i, label %run.exit

if.end5.i:
  %command_count.i = getelementptr inbounds nuw i8, ptr %region, i64 84
  %12 = load i32, ptr %command_count.i, align 4
  %tobool6.not.i = icmp eq i32 %12, 0
  br i1 %tobool6.not.i, label %if.end12.i, label %land.lhs.true7.i

land.lhs.true7.i:
  %recording.i = getelementptr inbounds nuw i8, ptr %region, i64 72
  %13 = load i64, ptr %recording.i, align 8
  %tobool8.not.i = icmp eq i64 %13, 0
  br i1 %tobool8.not.i, label %land.lhs.true9.i, label %if.end12.i

land.lhs.true9.i:
  %call10.i = tail call fastcc i1 @relay_device_record(ptr %9, ptr nonnull %region)
  br i1 %call10.i, label %if.end12.i, label %run.exit

if.end12.i:
  %arena.i = getelementptr inbounds nuw i8, ptr %8, i64 16
  %arena_bytes.i = getelementptr inbounds nuw i8, ptr %region, i64 100
  %14 = load i32, ptr %arena_bytes.i, align 4
  %idxprom.i = zext i32 %14 to i64
  %arrayidx.i = getelementptr inbounds nuw i64, ptr %scalars, i64 %idxprom.i
  %15 = load i64, ptr %arrayidx.i, align 8
  %bytes1.i = getelementptr inbounds nuw i8, ptr %8, i64 24
  %16 = load i64, ptr %bytes1.i, align 8
  %cmp.not.i = icmp ult i64 %16, %15
  br i1 %cmp.not.i, label %if.end.i46, label %if.end15.i

if.end.i46:
  %17 = load i64, ptr %arena.i, align 8
  %tobool.not.i.i = icmp eq i64 %17, 0
  br i1 %tobool.not.i.i, label %make_room.exit, label %if.then.i.i

if.then.i.i:
  %release.i.i = getelementptr inbounds nuw i8, ptr %9, i64 24
  %18 = load ptr, ptr %release.i.i, align 8
  %context.i.i = getelementptr inbounds nuw i8, ptr %9, i64 8
  %19 = load ptr, ptr %context.i.i, align 8
  tail call void %18(ptr %19, i64 %17) nounwind
  br label %make_room.exit

make_room.exit:
  store i64 0, ptr %arena.i, align 8
  store i64 0, ptr %bytes1.i, align 8
  %allocate.i = getelementptr inbounds nuw i8, ptr %9, i64 16
  %20 = load ptr, ptr %allocate.i, align 8
  %context.i = getelementptr inbounds nuw i8, ptr %9, i64 8
  %21 = load ptr, ptr %context.i, align 8
  %call.i47 = tail call i64 %20(ptr %21, i64 %15) nounwind
  store i64 %call.i47, ptr %arena.i, align 8
  %tobool.not.i48 = icmp eq i64 %call.i47, 0
  %cond.i49 = select i1 %tobool.not.i48, i64 0, i64 %15
  store i64 %cond.i49, ptr %bytes1.i, align 8
  br i1 %tobool.not.i48, label %run.exit, label %if.end15.i

if.end15.i:
  tail call void @llvm.memcpy.p0.p0.i64(ptr noundef nonnull align 8 dereferenceable(16) %buffers, ptr noundef nonnull align 8 dereferenceable(16) %arena.i, i64 16, i1 false)
  %arrayidx19.i = getelementptr inbounds nuw i8, ptr %buffers, i64 16
  %constants20.i = getelementptr inbounds nuw i8, ptr %8, i64 32
  tail call void @llvm.memcpy.p0.p0.i64(ptr noundef nonnull align 8 dereferenceable(16) %arrayidx19.i, ptr noundef nonnull align 8 dereferenceable(16) %constants20.i, i64 16, i1 false)
  %upload_count.i = getelementptr inbounds nuw i8, ptr %region, i64 88
  %22 = load i32, ptr %upload_count.i, align 8
  %cmp.i161.not = icmp eq i32 %22, 0
  br i1 %cmp.i161.not, label %if.end23.i, label %for.body.i.lr.ph

for.body.i.lr.ph:
  %uploads.i = getelementptr inbounds nuw i8, ptr %region, i64 48
  %upload.i = getelementptr inbounds nuw i8, ptr %9, i64 32
  %context.i56 = getelementptr inbounds nuw i8, ptr %9, i64 8
  br label %for.body.i

for.body.i:
  %23 = phi i32 [ %22, %for.body.i.lr.ph ], [ %35, %if.end.i57 ]
  %indvars.iv = phi i64 [ 0, %for.body.i.lr.ph ], [ %indvars.iv.next, %if.end.i57 ]
  %24 = load ptr, ptr %uploads.i, align 8
  %arrayidx.i51 = getelementptr inbounds nuw %struct.device_transfer, ptr %24, i64 %indvars.iv
  %bytes5.i = getelementptr inbounds nuw i8, ptr %arrayidx.i51, i64 12
  %25 = load i32, ptr %bytes5.i, align 4
  %idxprom6.i = zext i32 %25 to i64
  %arrayidx7.i = getelementptr inbounds nuw i64, ptr %scalars, i64 %idxprom6.i
  %26 = load i64, ptr %arrayidx7.i, align 8
  %tobool.not.i53 = icmp eq i64 %26, 0
  br i1 %tobool.not.i53, label %if.end.i57, label %land.lhs.true.i54

land.lhs.true.i54:
  %buffer.i = getelementptr inbounds nuw i8, ptr %arrayidx.i51, i64 4
  %27 = load i32, ptr %buffer.i, align 4
  %idxprom8.i = zext i32 %27 to i64
  %arrayidx9.i = getelementptr inbounds nuw %struct.relay_buffer, ptr %buffers, i64 %idxprom8.i
  %28 = load i64, ptr %arrayidx9.i, align 8
  %offset1.i = getelementptr inbounds nuw i8, ptr %arrayidx.i51, i64 8
  %29 = load i32, ptr %offset1.i, align 4
  %idxprom2.i = zext i32 %29 to i64
  %arrayidx3.i = getelementptr inbounds nuw i64, ptr %scalars, i64 %idxprom2.i
  %30 = load i64, ptr %arrayidx3.i, align 8
  %31 = load ptr, ptr %upload.i, align 8
  %32 = load ptr, ptr %context.i56, align 8
  %33 = load i32, ptr %arrayidx.i51, align 4
  %idxprom10.i = zext i32 %33 to i64
  %arrayidx11.i = getelementptr inbounds nuw ptr, ptr %arguments, i64 %idxprom10.i
  %34 = load ptr, ptr %arrayidx11.i, align 8
  %call12.i = tail call i32 %31(ptr %32, i64 %28, i64 %30, ptr %34, i64 %26) nounwind
  %tobool13.not.i = icmp eq i32 %call12.i, 0
  br i1 %tobool13.not.i, label %land.lhs.true.i54.if.end.i57_crit_edge, label %run.exit

land.lhs.true.i54.if.end.i57_crit_edge:
  %.pre = load i32, ptr %upload_count.i, align 8
  br label %if.end.i57

if.end.i57:
  %35 = phi i32 [ %.pre, %land.lhs.true.i54.if.end.i57_crit_edge ], [ %23, %for.body.i ]
  %indvars.iv.next = add nuw nsw i64 %indvars.iv, 1
  %36 = zext i32 %35 to i64
  %cmp.i = icmp samesign ult i64 %indvars.iv.next, %36
  br i1 %cmp.i, label %for.body.i, label %if.end23.i

if.end23.i:
  %37 = load i32, ptr %command_count.i, align 4
  %tobool25.not.i = icmp eq i32 %37, 0
  br i1 %tobool25.not.i, label %if.end29.i, label %cond.true.i

cond.true.i:
  %38 = load ptr, ptr %8, align 8
  %submit.i = getelementptr inbounds nuw i8, ptr %38, i64 72
  %39 = load ptr, ptr %submit.i, align 8
  %context.i58 = getelementptr inbounds nuw i8, ptr %38, i64 8
  %40 = load ptr, ptr %context.i58, align 8
  %recording.i59 = getelementptr inbounds nuw i8, ptr %region, i64 72
  %41 = load i64, ptr %recording.i59, align 8
  %buffer_count.i = getelementptr inbounds nuw i8, ptr %region, i64 108
  %42 = load i32, ptr %buffer_count.i, align 4
  %conv.i = zext i32 %42 to i64
  %scalar_count.i = getelementptr inbounds nuw i8, ptr %region, i64 104
  %43 = load i32, ptr %scalar_count.i, align 8
  %conv2.i = zext i32 %43 to i64
  %call3.i62 = tail call i64 %39(ptr %40, i64 %41, ptr nonnull %buffers, i64 %conv.i, ptr nonnull %scalars, i64 %conv2.i) nounwind
  %tobool.not.i63 = icmp eq i64 %call3.i62, 0
  br i1 %tobool.not.i63, label %if.then.i, label %cond.true.i64

cond.true.i64:
  %44 = load ptr, ptr %8, align 8
  %wait.i = getelementptr inbounds nuw i8, ptr %44, i64 80
  %context.i117 = getelementptr inbounds nuw i8, ptr %44, i64 8
  %is_lost.i = getelementptr inbounds nuw i8, ptr %44, i64 104
  br label %do.body.i

do.body.i:
  %45 = load ptr, ptr %wait.i, align 8
  %46 = load ptr, ptr %context.i117, align 8
  %call.i118 = tail call i32 %45(ptr %46, i64 range(i64 1, 0) %call3.i62, i64 100000000) nounwind
  %cmp.i119.not = icmp eq i32 %call.i118, 1
  br i1 %cmp.i119.not, label %land.lhs.true.i121, label %wait_for.exit

land.lhs.true.i121:
  %47 = load ptr, ptr %interrupted.i, align 8
  %tobool.not.i.i122 = icmp eq ptr %47, null
  br i1 %tobool.not.i.i122, label %do.cond.i, label %is_interrupted.exit.i

is_interrupted.exit.i:
  %call.i.i = tail call i32 %47() nounwind
  %tobool2.i.i.not = icmp eq i32 %call.i.i, 0
  br i1 %tobool2.i.i.not, label %do.cond.i, label %wait_for.exit

do.cond.i:
  %48 = load ptr, ptr %is_lost.i, align 8
  %49 = load ptr, ptr %context.i117, align 8
  %call6.i = tail call i32 %48(ptr %49) nounwind
  %tobool.not.i124 = icmp eq i32 %call6.i, 0
  br i1 %tobool.not.i124, label %do.body.i, label %wait_for.exit

wait_for.exit:
  %status.1.i148 = phi i32 [ -8, %is_interrupted.exit.i ], [ 0, %do.body.i ], [ -7, %do.cond.i ]
  %release.i = getelementptr inbounds nuw i8, ptr %44, i64 24
  %50 = load ptr, ptr %release.i, align 8
  %51 = load ptr, ptr %context.i117, align 8
  tail call void %50(ptr %51, i64 range(i64 1, 0) %call3.i62) nounwind
  %cmp12.i = icmp slt i32 %call.i118, 0
  %brmerge = or i1 %cmp12.i, %cmp.i119.not
  %.mux = select i1 %cmp12.i, i32 -7, i32 %status.1.i148
  br i1 %brmerge, label %if.then.i, label %if.end29.i

if.then.i:
  %cond.i66151 = phi i32 [ %.mux, %wait_for.exit ], [ -7, %cond.true.i ]
  %52 = load i64, ptr %arena.i, align 8
  %tobool.not.i.i68 = icmp eq i64 %52, 0
  br i1 %tobool.not.i.i68, label %cond.end.i, label %if.then.i.i69

if.then.i.i69:
  %release.i.i70 = getelementptr inbounds nuw i8, ptr %38, i64 24
  %53 = load ptr, ptr %release.i.i70, align 8
  %54 = load ptr, ptr %context.i58, align 8
  tail call void %53(ptr %54, i64 %52) nounwind
  br label %cond.end.i

cond.end.i:
  store i64 0, ptr %arena.i, align 8
  store i64 0, ptr %bytes1.i, align 8
  br label %run.exit

if.end29.i:
  %source1.i = getelementptr inbounds nuw i8, ptr %region, i64 16
  %55 = load ptr, ptr %source1.i, align 8
  %tobool.not.i75 = icmp eq ptr %55, null
  br i1 %tobool.not.i75, label %cond.end.i77, label %cond.true.i76

cond.true.i76:
  %56 = load ptr, ptr %55, align 8
  br label %cond.end.i77

cond.end.i77:
  %cond.i78 = phi ptr [ %56, %cond.true.i76 ], [ null, %if.end29.i ]
  %copy_count.i = getelementptr inbounds nuw i8, ptr %region, i64 96
  %57 = load i32, ptr %copy_count.i, align 8
  %cmp.not.i81.not163.not = icmp eq i32 %57, 0
  br i1 %cmp.not.i81.not163.not, label %for.cond.i90.preheader, label %for.body.i82.lr.ph

for.body.i82.lr.ph:
  %copies.i = getelementptr inbounds nuw i8, ptr %region, i64 64
  %tobool22.i = icmp ne ptr %cond.i78, null
  %copy.i = getelementptr inbounds nuw i8, ptr %9, i64 48
  %context.i88 = getelementptr inbounds nuw i8, ptr %9, i64 8
  %table_bytes.i = getelementptr inbounds nuw i8, ptr %9, i64 4
  %copy_from.i = getelementptr inbounds nuw i8, ptr %9, i64 112
  %context3.i = getelementptr inbounds nuw i8, ptr %cond.i78, i64 8
  br label %for.body.i82

for.cond.i90.preheader:
  %download_count.i = getelementptr inbounds nuw i8, ptr %region, i64 92
  %58 = load i32, ptr %download_count.i, align 4
  %cmp.i92165.not = icmp eq i32 %58, 0
  br i1 %cmp.i92165.not, label %run.exit, label %for.body.i94.lr.ph

for.body.i94.lr.ph:
  %downloads.i = getelementptr inbounds nuw i8, ptr %region, i64 56
  %download.i = getelementptr inbounds nuw i8, ptr %9, i64 40
  %context.i110 = getelementptr inbounds nuw i8, ptr %9, i64 8
  br label %for.body.i94

for.body.i82:
  %indvars.iv171 = phi i64 [ 0, %for.body.i82.lr.ph ], [ %indvars.iv.next172, %if.end32.i ]
  %59 = load ptr, ptr %copies.i, align 8
  %arrayidx.i84 = getelementptr inbounds nuw %struct.device_copy, ptr %59, i64 %indvars.iv171
  %60 = load i32, ptr %arrayidx.i84, align 4
  %idxprom4.i = zext i32 %60 to i64
  %arrayidx5.i = getelementptr inbounds nuw %struct.relay_buffer, ptr %buffers, i64 %idxprom4.i
  %61 = load i64, ptr %arrayidx5.i, align 8
  %from_buffer.i = getelementptr inbounds nuw i8, ptr %arrayidx.i84, i64 8
  %62 = load i32, ptr %from_buffer.i, align 4
  %idxprom7.i = zext i32 %62 to i64
  %arrayidx8.i = getelementptr inbounds nuw %struct.relay_buffer, ptr %buffers, i64 %idxprom7.i
  %63 = load i64, ptr %arrayidx8.i, align 8
  %to_offset10.i = getelementptr inbounds nuw i8, ptr %arrayidx.i84, i64 4
  %64 = load i32, ptr %to_offset10.i, align 4
  %idxprom11.i = zext i32 %64 to i64
  %arrayidx12.i = getelementptr inbounds nuw i64, ptr %scalars, i64 %idxprom11.i
  %65 = load i64, ptr %arrayidx12.i, align 8
  %from_offset14.i = getelementptr inbounds nuw i8, ptr %arrayidx.i84, i64 12
  %66 = load i32, ptr %from_offset14.i, align 4
  %idxprom15.i = zext i32 %66 to i64
  %arrayidx16.i = getelementptr inbounds nuw i64, ptr %scalars, i64 %idxprom15.i
  %67 = load i64, ptr %arrayidx16.i, align 8
  %bytes18.i = getelementptr inbounds nuw i8, ptr %arrayidx.i84, i64 16
  %68 = load i32, ptr %bytes18.i, align 4
  %idxprom19.i = zext i32 %68 to i64
  %arrayidx20.i = getelementptr inbounds nuw i64, ptr %scalars, i64 %idxprom19.i
  %69 = load i64, ptr %arrayidx20.i, align 8
  %tobool21.i = icmp ne i64 %69, 0
  %or.cond.i = select i1 %tobool21.i, i1 %tobool22.i, i1 false
  br i1 %or.cond.i, label %land.lhs.true23.i, label %if.end.i87

land.lhs.true23.i:
  %70 = load i32, ptr %table_bytes.i, align 4
  %cmp.i125 = icmp ugt i32 %70, 119
  br i1 %cmp.i125, label %land.lhs.true.i129, label %copy_between.exit

land.lhs.true.i129:
  %71 = load ptr, ptr %copy_from.i, align 8
  %tobool.not.i130 = icmp eq ptr %71, null
  br i1 %tobool.not.i130, label %copy_between.exit, label %if.end.i131

if.end.i131:
  %72 = load ptr, ptr %context.i88, align 8
  %73 = load ptr, ptr %context3.i, align 8
  %call4.i = tail call i32 %71(ptr %72, i64 %61, i64 %65, ptr %73, i64 %63, i64 %67, i64 range(i64 1, 0) %69) nounwind
  %tobool5.not.i133 = icmp eq i32 %call4.i, 0
  br i1 %tobool5.not.i133, label %if.end32.i, label %run.exit

copy_between.exit:
  %call.i127 = tail call fastcc i1 @relay_device_copy_through_host(ptr nonnull %9, i64 %61, i64 %65, ptr nonnull %cond.i78, i64 %63, i64 %67, i64 range(i64 1, 0) %69)
  br i1 %call.i127, label %if.end32.i, label %run.exit

if.end.i87:
  %tobool25.i = icmp eq i64 %69, 0
  %or.cond43.i = select i1 %tobool25.i, i1 true, i1 %tobool22.i
  br i1 %or.cond43.i, label %if.end32.i, label %land.lhs.true28.i

land.lhs.true28.i:
  %74 = load ptr, ptr %copy.i, align 8
  %75 = load ptr, ptr %context.i88, align 8
  %call29.i = tail call i32 %74(ptr %75, i64 %61, i64 %65, i64 %63, i64 %67, i64 %69) nounwind
  %tobool30.not.i = icmp eq i32 %call29.i, 0
  br i1 %tobool30.not.i, label %if.end32.i, label %run.exit

if.end32.i:
  %indvars.iv.next172 = add nuw nsw i64 %indvars.iv171, 1
  %76 = load i32, ptr %copy_count.i, align 8
  %77 = zext i32 %76 to i64
  %cmp.not.i81.not = icmp samesign ult i64 %indvars.iv.next172, %77
  br i1 %cmp.not.i81.not, label %for.body.i82, label %for.cond.i90.preheader

for.body.i94:
  %78 = phi i32 [ %58, %for.body.i94.lr.ph ], [ %90, %if.end.i115 ]
  %indvars.iv174 = phi i64 [ 0, %for.body.i94.lr.ph ], [ %indvars.iv.next175, %if.end.i115 ]
  %79 = load ptr, ptr %downloads.i, align 8
  %arrayidx.i96 = getelementptr inbounds nuw %struct.device_transfer, ptr %79, i64 %indvars.iv174
  %bytes5.i98 = getelementptr inbounds nuw i8, ptr %arrayidx.i96, i64 12
  %80 = load i32, ptr %bytes5.i98, align 4
  %idxprom6.i99 = zext i32 %80 to i64
  %arrayidx7.i100 = getelementptr inbounds nuw i64, ptr %scalars, i64 %idxprom6.i99
  %81 = load i64, ptr %arrayidx7.i100, align 8
  %tobool.not.i101 = icmp eq i64 %81, 0
  br i1 %tobool.not.i101, label %if.end.i115, label %land.lhs.true.i102

land.lhs.true.i102:
  %buffer.i104 = getelementptr inbounds nuw i8, ptr %arrayidx.i96, i64 4
  %82 = load i32, ptr %buffer.i104, align 4
  %idxprom8.i105 = zext i32 %82 to i64
  %arrayidx9.i106 = getelementptr inbounds nuw %struct.relay_buffer, ptr %buffers, i64 %idxprom8.i105
  %83 = load i64, ptr %arrayidx9.i106, align 8
  %offset1.i107 = getelementptr inbounds nuw i8, ptr %arrayidx.i96, i64 8
  %84 = load i32, ptr %offset1.i107, align 4
  %idxprom2.i108 = zext i32 %84 to i64
  %arrayidx3.i109 = getelementptr inbounds nuw i64, ptr %scalars, i64 %idxprom2.i108
  %85 = load i64, ptr %arrayidx3.i109, align 8
  %86 = load ptr, ptr %download.i, align 8
  %87 = load ptr, ptr %context.i110, align 8
  %88 = load i32, ptr %arrayidx.i96, align 4
  %idxprom10.i111 = zext i32 %88 to i64
  %arrayidx11.i112 = getelementptr inbounds nuw ptr, ptr %arguments, i64 %idxprom10.i111
  %89 = load ptr, ptr %arrayidx11.i112, align 8
  %call12.i113 = tail call i32 %86(ptr %87, ptr %89, i64 %83, i64 %85, i64 %81) nounwind
  %tobool13.not.i114 = icmp eq i32 %call12.i113, 0
  br i1 %tobool13.not.i114, label %land.lhs.true.i102.if.end.i115_crit_edge, label %run.exit

land.lhs.true.i102.if.end.i115_crit_edge:
  %.pre177 = load i32, ptr %download_count.i, align 4
  br label %if.end.i115

if.end.i115:
  %90 = phi i32 [ %.pre177, %land.lhs.true.i102.if.end.i115_crit_edge ], [ %78, %for.body.i94 ]
  %indvars.iv.next175 = add nuw nsw i64 %indvars.iv174, 1
  %91 = zext i32 %90 to i64
  %cmp.i92 = icmp samesign ult i64 %indvars.iv.next175, %91
  br i1 %cmp.i92, label %for.body.i94, label %run.exit

run.exit:
  %retval.1.i = phi i32 [ -8, %is_interrupted.exit ], [ 0, %for.cond.i90.preheader ], [ -7, %make_room.exit ], [ -7, %land.lhs.true9.i ], [ -7, %land.lhs.true.i ], [ %cond.i66151, %cond.end.i ], [ -7, %land.lhs.true.i102 ], [ -7, %land.lhs.true28.i ], [ 0, %if.end.i115 ], [ -7, %if.end.i131 ], [ -7, %copy_between.exit ], [ -7, %land.lhs.true.i54 ]
  %92 = load i32, ptr %table_bytes, align 4
  %cmp17 = icmp ugt i32 %92, 135
  br i1 %cmp17, label %land.lhs.true19, label %if.end24

land.lhs.true19:
  %end_region = getelementptr inbounds nuw i8, ptr %1, i64 128
  %93 = load ptr, ptr %end_region, align 8
  %tobool20.not = icmp eq ptr %93, null
  br i1 %tobool20.not, label %if.end24, label %if.then21

if.then21:
  %context23 = getelementptr inbounds nuw i8, ptr %1, i64 8
  %94 = load ptr, ptr %context23, align 8
  tail call void %93(ptr %94) nounwind
  br label %if.end24

if.end24:
  %95 = load ptr, ptr %device, align 8
  %lock.i42 = getelementptr inbounds nuw i8, ptr %95, i64 72
  store atomic i32 0, ptr %lock.i42 release, align 8
  br label %cleanup

cleanup:
  %retval.0 = phi i32 [ %retval.1.i, %if.end24 ], [ -6, %entry ]
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
  %device = getelementptr inbounds nuw i8, ptr %0, i64 8
  %1 = load ptr, ptr %device, align 8
  %2 = load ptr, ptr %1, align 8
  %tobool.not = icmp eq ptr %2, null
  br i1 %tobool.not, label %cleanup, label %if.end

if.end:
  %recording = getelementptr inbounds nuw i8, ptr %0, i64 72
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
  %module_count = getelementptr inbounds nuw i8, ptr %0, i64 80
  %6 = load i32, ptr %module_count, align 8
  %cmp360.not = icmp eq i32 %6, 0
  br i1 %cmp360.not, label %for.cond.cleanup4, label %for.body5.lr.ph

for.body5.lr.ph:
  %modules = getelementptr inbounds nuw i8, ptr %0, i64 24
  %release.i = getelementptr inbounds nuw i8, ptr %2, i64 24
  %context.i = getelementptr inbounds nuw i8, ptr %2, i64 8
  br label %for.body5

for.cond.cleanup4:
  %7 = load ptr, ptr %device, align 8
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
  %11 = load ptr, ptr %device, align 8
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
  %15 = load ptr, ptr %device, align 8
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
  %device21 = getelementptr inbounds nuw i8, ptr %22, i64 8
  %23 = load ptr, ptr %device21, align 8
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
  %module_count.i = getelementptr inbounds nuw i8, ptr %region, i64 80
  %0 = load i32, ptr %module_count.i, align 8
  %cmp.i26.not = icmp eq i32 %0, 0
  br i1 %cmp.i26.not, label %for.cond.preheader, label %for.body.i.lr.ph

for.body.i.lr.ph:
  %modules.i = getelementptr inbounds nuw i8, ptr %region, i64 24
  %load.i = getelementptr inbounds nuw i8, ptr %table, i64 56
  %context.i = getelementptr inbounds nuw i8, ptr %table, i64 8
  br label %for.body.i

for.cond.preheader:
  %command_count = getelementptr inbounds nuw i8, ptr %region, i64 84
  %1 = load i32, ptr %command_count, align 4
  %cmp28.not = icmp eq i32 %1, 0
  br i1 %cmp28.not, label %for.cond.cleanup, label %for.body.lr.ph

for.body.lr.ph:
  %modules = getelementptr inbounds nuw i8, ptr %region, i64 24
  %command_modules = getelementptr inbounds nuw i8, ptr %region, i64 40
  %commands = getelementptr inbounds nuw i8, ptr %region, i64 32
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
  %commands5 = getelementptr inbounds nuw i8, ptr %region, i64 32
  %15 = load ptr, ptr %commands5, align 8
  %call7 = tail call i64 %13(ptr %14, ptr %15, i64 %.lcssa) nounwind
  %recording = getelementptr inbounds nuw i8, ptr %region, i64 72
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

define internal fastcc i1 @relay_device_copy_through_host(ptr readonly captures(none) %table, i64 %to, i64 %to_offset, ptr nonnull readonly captures(none) %source, i64 %from, i64 %from_offset, i64 range(i64 1, 0) %bytes) noinline nounwind {
entry:
  %call = tail call ptr @mmap(ptr null, i64 %bytes, i32 3, i32 34, i32 -1, i64 0) nounwind
  %cmp = icmp eq ptr %call, inttoptr (i64 -1 to ptr)
  br i1 %cmp, label %cleanup, label %if.end

if.end:
  %download = getelementptr inbounds nuw i8, ptr %source, i64 40
  %0 = load ptr, ptr %download, align 8
  %context = getelementptr inbounds nuw i8, ptr %source, i64 8
  %1 = load ptr, ptr %context, align 8
  %call1 = tail call i32 %0(ptr %1, ptr %call, i64 %from, i64 %from_offset, i64 %bytes) nounwind
  %tobool.not = icmp eq i32 %call1, 0
  br i1 %tobool.not, label %land.rhs, label %land.end

land.rhs:
  %upload = getelementptr inbounds nuw i8, ptr %table, i64 32
  %2 = load ptr, ptr %upload, align 8
  %context2 = getelementptr inbounds nuw i8, ptr %table, i64 8
  %3 = load ptr, ptr %context2, align 8
  %call3 = tail call i32 %2(ptr %3, i64 %to, i64 %to_offset, ptr %call, i64 %bytes) nounwind
  %tobool4.not = icmp eq i32 %call3, 0
  br label %land.end

land.end:
  %4 = phi i1 [ false, %if.end ], [ %tobool4.not, %land.rhs ]
  %call5 = tail call i32 @munmap(ptr %call, i64 %bytes) nounwind
  br label %cleanup

cleanup:
  %retval.0 = phi i1 [ %4, %land.end ], [ false, %entry ]
  ret i1 %retval.0
}

declare ptr @mmap(ptr, i64, i32, i32, i32, i64)

declare i32 @munmap(ptr, i64)
