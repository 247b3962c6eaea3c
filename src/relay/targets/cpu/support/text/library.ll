; Made of library.c by `python -m relay.targets.cpu.support.generate`.

%struct.range = type { i64, i64, i64 }
%struct.limit = type { i64, i64, i64 }
%struct.signal_action = type { ptr, %struct.set, i32, ptr }
%struct.set = type { [16 x i64] }
%struct.builder = type { ptr, ptr, ptr }
%struct.planned_field = type { i64, ptr }
%struct.known_class = type { ptr, ptr }
%struct.met = type { ptr, i64, ptr, i64 }
%struct.share = type { i64, i64, i64, i64, ptr, i64, [2 x i64] }

@ranges = internal global [1024 x %struct.range] zeroinitializer, align 16
@limit_once = internal global i32 0, align 4
@limit_key = internal global i32 0, align 4
@asked_threads = internal global i32 0, align 4
@pool_pages = internal global ptr null, align 8
@has_owner_key = internal global i32 0, align 4
@owner_key = internal global i32 0, align 4
@owner_once = internal global i32 0, align 4
@relay_stop_asked = global i32 0, align 4
@interrupted_thread = internal global i64 0, align 8
@limits = internal global [64 x %struct.limit] zeroinitializer, align 16
@before_interrupt = internal global %struct.signal_action zeroinitializer, align 8
@overdue = internal global [64 x i64] zeroinitializer, align 16
@kept_bytes = internal global [64 x i64] zeroinitializer, align 16
@kept_blocks = internal global [64 x ptr] zeroinitializer, align 16
@replaced = internal global i64 0, align 8
@is_handling = internal global i32 0, align 4
@__const.handle_once.action = private constant { ptr, %struct.set, i32, [4 x i8], ptr } { ptr @handle, %struct.set zeroinitializer, i32 134217732, [4 x i8] zeroinitializer, ptr null }, align 8
@before = internal global %struct.signal_action zeroinitializer, align 8
@has_limit_key = internal global i32 0, align 4

define i64 @relay_build(ptr %root, ptr readonly captures(none) %plan, ptr %room) nounwind {
entry:
  %builder = alloca %struct.builder, align 8
  call void @llvm.lifetime.start.p0(ptr nonnull %builder) nounwind
  store ptr %room, ptr %builder, align 8
  %cursor = getelementptr inbounds nuw i8, ptr %builder, i64 8
  %0 = load ptr, ptr %room, align 8
  %add.ptr = getelementptr inbounds nuw i8, ptr %0, i64 8
  store ptr %add.ptr, ptr %cursor, align 8
  %list = getelementptr inbounds nuw i8, ptr %builder, i64 16
  store ptr null, ptr %list, align 8
  %1 = ptrtoint ptr %root to i64
  store i64 %1, ptr %0, align 8
  %2 = load ptr, ptr %room, align 8
  %call = call fastcc i32 @make(ptr %builder, ptr %plan, ptr %2)
  %cmp18 = icmp eq i32 %call, 1
  %3 = load ptr, ptr %list, align 8
  %cmp519 = icmp ne ptr %3, null
  %4 = select i1 %cmp18, i1 %cmp519, i1 false
  br i1 %4, label %while.body, label %while.end

while.body:
  %5 = phi ptr [ %12, %make_fields.exit ], [ %3, %entry ]
  %6 = load ptr, ptr %5, align 8
  %next.i = getelementptr inbounds nuw i8, ptr %5, i64 16
  %7 = load ptr, ptr %next.i, align 8
  store ptr %7, ptr %list, align 8
  store i64 1152921504606846976, ptr %5, align 8
  store i64 0, ptr %next.i, align 8
  %fields = getelementptr inbounds nuw i8, ptr %5, i64 24
  %count.i = getelementptr inbounds nuw i8, ptr %6, i64 8
  %8 = load i64, ptr %count.i, align 8
  %cmp9.i = icmp sgt i64 %8, 0
  br i1 %cmp9.i, label %for.body.i, label %make_fields.exit

for.body.i:
  %i.010.i = phi i64 [ %inc.i, %for.body.i ], [ 0, %while.body ]
  %arrayidx.i = getelementptr inbounds nuw %struct.planned_field, ptr %6, i64 %i.010.i
  %plan.i = getelementptr inbounds nuw i8, ptr %arrayidx.i, i64 24
  %9 = load ptr, ptr %plan.i, align 8
  %arrayidx3.i = getelementptr inbounds nuw i64, ptr %fields, i64 %i.010.i
  %call.i = call fastcc i32 @make(ptr nonnull %builder, ptr %9, ptr nonnull %arrayidx3.i)
  %inc.i = add nuw nsw i64 %i.010.i, 1
  %10 = load i64, ptr %count.i, align 8
  %cmp.i = icmp slt i64 %inc.i, %10
  %cmp1.i = icmp eq i32 %call.i, 1
  %11 = select i1 %cmp.i, i1 %cmp1.i, i1 false
  br i1 %11, label %for.body.i, label %make_fields.exit.loopexit

make_fields.exit.loopexit:
  %.pre = load ptr, ptr %list, align 8
  br label %make_fields.exit

make_fields.exit:
  %12 = phi ptr [ %7, %while.body ], [ %.pre, %make_fields.exit.loopexit ]
  %outcome.0.lcssa.i = phi i32 [ 1, %while.body ], [ %call.i, %make_fields.exit.loopexit ]
  %cmp = icmp eq i32 %outcome.0.lcssa.i, 1
  %cmp5 = icmp ne ptr %12, null
  %13 = select i1 %cmp, i1 %cmp5, i1 false
  br i1 %13, label %while.body, label %while.end

while.end:
  %outcome.0.lcssa = phi i32 [ %call, %entry ], [ %outcome.0.lcssa.i, %make_fields.exit ]
  %cmp.lcssa = phi i1 [ %cmp18, %entry ], [ %cmp, %make_fields.exit ]
  br i1 %cmp.lcssa, label %cond.true, label %cond.false

cond.true:
  %14 = load ptr, ptr %room, align 8
  %15 = load i64, ptr %14, align 8
  br label %cond.end

cond.false:
  %conv = sext i32 %outcome.0.lcssa to i64
  br label %cond.end

cond.end:
  %cond = phi i64 [ %15, %cond.true ], [ %conv, %cond.false ]
  call void @llvm.lifetime.end.p0(ptr nonnull %builder) nounwind
  ret i64 %cond
}

define internal fastcc range(i32 -1, 2) i32 @make(ptr nonnull captures(none) %builder, ptr readonly captures(none) %plan, ptr captures(none) %slot) nounwind {
entry:
  %0 = load i64, ptr %slot, align 8
  %1 = inttoptr i64 %0 to ptr
  %2 = load i64, ptr %plan, align 8
  %cmp = icmp slt i64 %2, 0
  br i1 %cmp, label %if.then, label %for.cond.preheader

for.cond.preheader:
  %cmp2.not29.not = icmp eq i64 %2, 0
  br i1 %cmp2.not29.not, label %cleanup10, label %for.body.lr.ph

for.body.lr.ph:
  %classes = getelementptr inbounds nuw i8, ptr %plan, i64 8
  %type3 = getelementptr inbounds nuw i8, ptr %1, i64 8
  %3 = load ptr, ptr %type3, align 8
  br label %for.body

if.then:
  %4 = load ptr, ptr %builder, align 8
  %layout1.i = getelementptr inbounds nuw i8, ptr %4, i64 32
  %rank.i = getelementptr inbounds nuw i8, ptr %plan, i64 24
  %5 = load i64, ptr %rank.i, align 8
  %type.i.i = getelementptr inbounds nuw i8, ptr %1, i64 8
  %6 = load ptr, ptr %type.i.i, align 8
  %7 = load ptr, ptr %layout1.i, align 8
  %cmp.not.i.i = icmp eq ptr %6, %7
  br i1 %cmp.not.i.i, label %if.end.i.i, label %cleanup10

if.end.i.i:
  %element_type.i = getelementptr inbounds nuw i8, ptr %plan, i64 16
  %8 = load ptr, ptr %element_type.i, align 8
  %element_type2.i.i = getelementptr inbounds nuw i8, ptr %4, i64 64
  %9 = load i64, ptr %element_type2.i.i, align 8
  %add.ptr.i.i.i.i = getelementptr inbounds i8, ptr %1, i64 %9
  %10 = load ptr, ptr %add.ptr.i.i.i.i, align 8
  %cmp4.i.i = icmp eq ptr %10, %8
  br i1 %cmp4.i.i, label %land.lhs.true.i.i, label %cleanup10

land.lhs.true.i.i:
  %flags1.i.i = getelementptr inbounds nuw i8, ptr %4, i64 72
  %11 = load i64, ptr %flags1.i.i, align 8
  %add.ptr.i.i.i = getelementptr inbounds i8, ptr %1, i64 %11
  %12 = load i32, ptr %add.ptr.i.i.i, align 4
  %wanted_flags.i.i = getelementptr inbounds nuw i8, ptr %4, i64 80
  %13 = load i64, ptr %wanted_flags.i.i, align 8
  %conv.i.i = trunc i64 %13 to i32
  %rank.i.i.i = getelementptr inbounds nuw i8, ptr %4, i64 48
  %14 = load i64, ptr %rank.i.i.i, align 8
  %add.ptr.i.i19.i.i = getelementptr inbounds i8, ptr %1, i64 %14
  %15 = load i32, ptr %add.ptr.i.i19.i.i, align 4
  %conv.i.i.i = sext i32 %15 to i64
  %cmp7.i.i = icmp eq i64 %5, %conv.i.i.i
  %and.i.i = and i32 %12, %conv.i.i
  %cmp9.i.i = icmp eq i32 %and.i.i, %conv.i.i
  %or.cond.i = select i1 %cmp7.i.i, i1 %cmp9.i.i, i1 false
  br i1 %or.cond.i, label %if.end.i, label %cleanup10

if.end.i:
  %add.i = add nsw i64 %5, 5
  %end.i.i = getelementptr inbounds nuw i8, ptr %4, i64 8
  %16 = load ptr, ptr %end.i.i, align 8
  %cursor.i.i = getelementptr inbounds nuw i8, ptr %builder, i64 8
  %17 = load ptr, ptr %cursor.i.i, align 8
  %sub.ptr.lhs.cast.i.i = ptrtoint ptr %16 to i64
  %sub.ptr.rhs.cast.i.i = ptrtoint ptr %17 to i64
  %sub.ptr.sub.i.i = sub i64 %sub.ptr.lhs.cast.i.i, %sub.ptr.rhs.cast.i.i
  %sub.ptr.div.i.i = ashr exact i64 %sub.ptr.sub.i.i, 3
  %cmp.i.not.i = icmp ugt i64 %add.i, %sub.ptr.div.i.i
  br i1 %cmp.i.not.i, label %cleanup10, label %if.end5.i

if.end5.i:
  store i64 1152921504606846976, ptr %17, align 8
  %head.i = getelementptr inbounds nuw i8, ptr %plan, i64 8
  %18 = load i64, ptr %head.i, align 8
  %head6.i = getelementptr inbounds nuw i8, ptr %17, i64 8
  store i64 %18, ptr %head6.i, align 8
  %block_class.i = getelementptr inbounds nuw i8, ptr %17, i64 16
  store i64 0, ptr %block_class.i, align 8
  %owner.i = getelementptr inbounds nuw i8, ptr %17, i64 24
  store i64 3, ptr %owner.i, align 8
  %data.i = getelementptr inbounds nuw i8, ptr %4, i64 40
  %19 = load i64, ptr %data.i, align 8
  %add.ptr.i.i49.i = getelementptr inbounds i8, ptr %1, i64 %19
  %20 = load ptr, ptr %add.ptr.i.i49.i, align 8
  %data8.i = getelementptr inbounds nuw i8, ptr %17, i64 32
  store ptr %20, ptr %data8.i, align 8
  %extents.i.i = getelementptr inbounds nuw i8, ptr %4, i64 56
  %21 = load i64, ptr %extents.i.i, align 8
  %add.ptr.i.i.i50.i = getelementptr inbounds i8, ptr %1, i64 %21
  %22 = load ptr, ptr %add.ptr.i.i.i50.i, align 8
  %23 = load i64, ptr %rank.i, align 8
  %cmp.not52.i = icmp sgt i64 %23, 0
  br i1 %cmp.not52.i, label %for.body.lr.ph.i, label %for.end.i

for.body.lr.ph.i:
  %extents11.i = getelementptr inbounds nuw i8, ptr %plan, i64 32
  %extents17.i = getelementptr inbounds nuw i8, ptr %17, i64 40
  br label %for.body.i

for.body.i:
  %axis.053.i = phi i64 [ 0, %for.body.lr.ph.i ], [ %inc.i, %if.end15.i ]
  %arrayidx.i = getelementptr inbounds nuw i64, ptr %22, i64 %axis.053.i
  %24 = load i64, ptr %arrayidx.i, align 8
  %arrayidx12.i = getelementptr inbounds nuw i64, ptr %extents11.i, i64 %axis.053.i
  %25 = load i64, ptr %arrayidx12.i, align 8
  %cmp13.not.i = icmp eq i64 %24, %25
  br i1 %cmp13.not.i, label %if.end15.i, label %cleanup10

if.end15.i:
  %arrayidx18.i = getelementptr inbounds nuw i64, ptr %extents17.i, i64 %axis.053.i
  store i64 %24, ptr %arrayidx18.i, align 8
  %inc.i = add nuw nsw i64 %axis.053.i, 1
  %26 = load i64, ptr %rank.i, align 8
  %cmp.not.i = icmp slt i64 %inc.i, %26
  br i1 %cmp.not.i, label %for.body.i, label %for.end.i

for.end.i:
  %27 = load ptr, ptr %cursor.i.i, align 8
  %add.ptr.i = getelementptr inbounds nuw i64, ptr %27, i64 %add.i
  store ptr %add.ptr.i, ptr %cursor.i.i, align 8
  store i64 %sub.ptr.rhs.cast.i.i, ptr %slot, align 8
  br label %cleanup10

for.cond:
  %inc = add nuw nsw i64 %i.030, 1
  %exitcond.not = icmp eq i64 %inc, %2
  br i1 %exitcond.not, label %cleanup10, label %for.body

for.body:
  %i.030 = phi i64 [ 0, %for.body.lr.ph ], [ %inc, %for.cond ]
  %arrayidx = getelementptr inbounds nuw %struct.known_class, ptr %classes, i64 %i.030
  %28 = load ptr, ptr %arrayidx, align 8
  %cmp4 = icmp eq ptr %28, %3
  br i1 %cmp4, label %if.then5, label %for.cond

if.then5:
  %cell = getelementptr inbounds nuw i8, ptr %arrayidx, i64 8
  %29 = load ptr, ptr %cell, align 8
  %count.i = getelementptr inbounds nuw i8, ptr %29, i64 8
  %30 = load i64, ptr %count.i, align 8
  %cmp.i = icmp slt i64 %30, 0
  br i1 %cmp.i, label %land.lhs.true.i, label %if.end.i23

land.lhs.true.i:
  %length.i = getelementptr inbounds nuw i8, ptr %29, i64 24
  %31 = load i64, ptr %length.i, align 8
  %add.ptr.i.i.i26 = getelementptr inbounds i8, ptr %1, i64 %31
  %32 = load i64, ptr %add.ptr.i.i.i26, align 8
  %cmp1.i = icmp eq i64 %32, 0
  br i1 %cmp1.i, label %if.then.i, label %if.end6.i

if.then.i:
  %empty.i = getelementptr inbounds nuw i8, ptr %29, i64 16
  %33 = load i64, ptr %empty.i, align 8
  store i64 %33, ptr %slot, align 8
  br label %cleanup10

if.end.i23:
  %cmp3.i = icmp eq i64 %30, 0
  br i1 %cmp3.i, label %if.then4.i, label %if.end6.i

if.then4.i:
  %34 = load i64, ptr %29, align 8
  %conv.i.i25 = shl i64 %34, 1
  %mul.i.i = and i64 %conv.i.i25, 8589934590
  %add.i.i = or disjoint i64 %mul.i.i, 1
  store i64 %add.i.i, ptr %slot, align 8
  br label %cleanup10

if.end6.i:
  %35 = load ptr, ptr %builder, align 8
  %shr.i.i.i = lshr i64 %0, 4
  %mul.i.i.i = mul i64 %shr.i.i.i, -7046029254386353131
  %shr1.i.i.i = lshr i64 %mul.i.i.i, 32
  %table.i.i.i = getelementptr inbounds nuw i8, ptr %35, i64 16
  %36 = load ptr, ptr %table.i.i.i, align 8
  %mask.i.i.i = getelementptr inbounds nuw i8, ptr %35, i64 24
  %37 = load i64, ptr %mask.i.i.i, align 8
  br label %while.cond.i.i.i

while.cond.i.i.i:
  %position.0.i.i.i = phi i64 [ %shr1.i.i.i, %if.end6.i ], [ %inc.i.i.i, %while.cond.i.i.i ]
  %and.pn.i.i.i = and i64 %position.0.i.i.i, %37
  %met.0.i.i.i = getelementptr inbounds nuw %struct.met, ptr %36, i64 %and.pn.i.i.i
  %38 = load ptr, ptr %met.0.i.i.i, align 8
  %cmp.not.i.i.i = icmp eq ptr %38, null
  %cmp4.not.i.i.i = icmp eq ptr %38, %1
  %or.cond.i.i.i = select i1 %cmp.not.i.i.i, i1 true, i1 %cmp4.not.i.i.i
  %inc.i.i.i = add i64 %position.0.i.i.i, 1
  br i1 %or.cond.i.i.i, label %find.exit.i.i, label %while.cond.i.i.i

find.exit.i.i:
  br i1 %cmp.not.i.i.i, label %if.end.i.i24, label %if.then.i.i

if.then.i.i:
  %object.i.i = getelementptr inbounds nuw i8, ptr %met.0.i.i.i, i64 8
  %39 = load i64, ptr %object.i.i, align 8
  store i64 %39, ptr %slot, align 8
  %cell2.i.i = getelementptr inbounds nuw i8, ptr %met.0.i.i.i, i64 16
  %40 = load ptr, ptr %cell2.i.i, align 8
  %cmp3.i.i = icmp eq ptr %40, %29
  %cond.i.i = zext i1 %cmp3.i.i to i32
  br label %cleanup10

if.end.i.i24:
  br i1 %cmp.i, label %cond.true.i.i, label %cond.false.i.i

cond.true.i.i:
  %length1.i.i.i = getelementptr inbounds nuw i8, ptr %29, i64 24
  %41 = load i64, ptr %length1.i.i.i, align 8
  %add.ptr.i.i.i.i.i = getelementptr inbounds i8, ptr %1, i64 %41
  %42 = load i64, ptr %add.ptr.i.i.i.i.i, align 8
  %mul.i26.i.i = mul i64 %42, 5
  %end.i.i.i.i = getelementptr inbounds nuw i8, ptr %35, i64 8
  %43 = load ptr, ptr %end.i.i.i.i, align 8
  %cursor.i.i.i.i = getelementptr inbounds nuw i8, ptr %builder, i64 8
  %44 = load ptr, ptr %cursor.i.i.i.i, align 8
  %sub.ptr.lhs.cast.i.i.i.i = ptrtoint ptr %43 to i64
  %sub.ptr.rhs.cast.i.i.i.i = ptrtoint ptr %44 to i64
  %sub.ptr.sub.i.i.i.i = sub i64 %sub.ptr.lhs.cast.i.i.i.i, %sub.ptr.rhs.cast.i.i.i.i
  %sub.ptr.div.i.i.i.i = ashr exact i64 %sub.ptr.sub.i.i.i.i, 3
  %cmp.i.not.i.i.i = icmp ugt i64 %mul.i26.i.i, %sub.ptr.div.i.i.i.i
  br i1 %cmp.i.not.i.i.i, label %cond.end.i.i, label %if.end.i.i.i

if.end.i.i.i:
  %items3.i.i.i = getelementptr inbounds nuw i8, ptr %29, i64 32
  %45 = load i64, ptr %items3.i.i.i, align 8
  %add.ptr.i.i38.i.i.i = getelementptr inbounds i8, ptr %1, i64 %45
  %46 = load ptr, ptr %add.ptr.i.i38.i.i.i, align 8
  %cmp.not41.not.i.i.i = icmp eq i64 %42, 0
  br i1 %cmp.not41.not.i.i.i, label %for.end.i.i.i, label %for.body.lr.ph.i.i.i

for.body.lr.ph.i.i.i:
  %link8.i.i.i = getelementptr inbounds nuw i8, ptr %29, i64 40
  %list.i.i.i.i = getelementptr inbounds nuw i8, ptr %builder, i64 16
  br label %for.body.i.i.i

for.body.i.i.i:
  %47 = phi ptr [ %44, %for.body.lr.ph.i.i.i ], [ %add.ptr.i.i16.i, %for.inc.i.i.i ]
  %i.043.i.i.i = phi i64 [ 0, %for.body.lr.ph.i.i.i ], [ %inc.i27.i.i, %for.inc.i.i.i ]
  %slot.addr.042.i.i.i = phi ptr [ %slot, %for.body.lr.ph.i.i.i ], [ %arrayidx12.i.i.i, %for.inc.i.i.i ]
  %arrayidx.i.i.i = getelementptr inbounds nuw i64, ptr %46, i64 %i.043.i.i.i
  %48 = load i64, ptr %arrayidx.i.i.i, align 8
  %cmp5.not.i.i.i = icmp eq i64 %48, 0
  br i1 %cmp5.not.i.i.i, label %cond.end.i.i, label %for.inc.i.i.i

for.inc.i.i.i:
  %49 = load i64, ptr %29, align 8
  store ptr %link8.i.i.i, ptr %47, align 8
  %head2.i.i.i.i = getelementptr inbounds nuw i8, ptr %47, i64 8
  store i64 %49, ptr %head2.i.i.i.i, align 8
  %50 = load ptr, ptr %list.i.i.i.i, align 8
  %next.i.i.i.i = getelementptr inbounds nuw i8, ptr %47, i64 16
  store ptr %50, ptr %next.i.i.i.i, align 8
  store ptr %47, ptr %list.i.i.i.i, align 8
  %51 = load i64, ptr %arrayidx.i.i.i, align 8
  %fields.i.i.i = getelementptr inbounds nuw i8, ptr %47, i64 24
  store i64 %51, ptr %fields.i.i.i, align 8
  %52 = ptrtoint ptr %47 to i64
  store i64 %52, ptr %slot.addr.042.i.i.i, align 8
  %arrayidx12.i.i.i = getelementptr inbounds nuw i8, ptr %47, i64 32
  %53 = load ptr, ptr %cursor.i.i.i.i, align 8
  %add.ptr.i.i16.i = getelementptr inbounds nuw i8, ptr %53, i64 40
  store ptr %add.ptr.i.i16.i, ptr %cursor.i.i.i.i, align 8
  %inc.i27.i.i = add nuw i64 %i.043.i.i.i, 1
  %exitcond.not.i.i.i = icmp eq i64 %inc.i27.i.i, %42
  br i1 %exitcond.not.i.i.i, label %for.end.i.i.i, label %for.body.i.i.i

for.end.i.i.i:
  %slot.addr.0.lcssa.i.i.i = phi ptr [ %slot, %if.end.i.i.i ], [ %arrayidx12.i.i.i, %for.inc.i.i.i ]
  %empty.i.i.i = getelementptr inbounds nuw i8, ptr %29, i64 16
  %54 = load i64, ptr %empty.i.i.i, align 8
  store i64 %54, ptr %slot.addr.0.lcssa.i.i.i, align 8
  br label %cond.end.i.i

cond.false.i.i:
  %add.i.i.i = add nuw i64 %30, 3
  %end.i.i28.i.i = getelementptr inbounds nuw i8, ptr %35, i64 8
  %55 = load ptr, ptr %end.i.i28.i.i, align 8
  %cursor.i.i29.i.i = getelementptr inbounds nuw i8, ptr %builder, i64 8
  %56 = load ptr, ptr %cursor.i.i29.i.i, align 8
  %sub.ptr.lhs.cast.i.i30.i.i = ptrtoint ptr %55 to i64
  %sub.ptr.rhs.cast.i.i31.i.i = ptrtoint ptr %56 to i64
  %sub.ptr.sub.i.i32.i.i = sub i64 %sub.ptr.lhs.cast.i.i30.i.i, %sub.ptr.rhs.cast.i.i31.i.i
  %sub.ptr.div.i.i33.i.i = ashr exact i64 %sub.ptr.sub.i.i32.i.i, 3
  %cmp.i.not.i34.i.i = icmp ugt i64 %add.i.i.i, %sub.ptr.div.i.i33.i.i
  br i1 %cmp.i.not.i34.i.i, label %cond.end.i.i, label %if.end.i35.i.i

if.end.i35.i.i:
  %57 = load i64, ptr %29, align 8
  store ptr %29, ptr %56, align 8
  %head2.i.i36.i.i = getelementptr inbounds nuw i8, ptr %56, i64 8
  store i64 %57, ptr %head2.i.i36.i.i, align 8
  %list.i.i37.i.i = getelementptr inbounds nuw i8, ptr %builder, i64 16
  %58 = load ptr, ptr %list.i.i37.i.i, align 8
  %next.i.i38.i.i = getelementptr inbounds nuw i8, ptr %56, i64 16
  store ptr %58, ptr %next.i.i38.i.i, align 8
  store ptr %56, ptr %list.i.i37.i.i, align 8
  %59 = load i64, ptr %count.i, align 8
  %cmp.not28.i.i.i = icmp sgt i64 %59, 0
  br i1 %cmp.not28.i.i.i, label %for.body.lr.ph.i41.i.i, label %for.end.i39.i.i

for.body.lr.ph.i41.i.i:
  %fields.i42.i.i = getelementptr inbounds nuw i8, ptr %29, i64 16
  %fields3.i.i.i = getelementptr inbounds nuw i8, ptr %56, i64 24
  br label %for.body.i43.i.i

for.cond.i.i.i:
  %inc.i46.i.i = add nuw nsw i64 %i.029.i.i.i, 1
  %60 = load i64, ptr %count.i, align 8
  %cmp.not.i47.i.i = icmp slt i64 %inc.i46.i.i, %60
  br i1 %cmp.not.i47.i.i, label %for.body.i43.i.i, label %for.end.i39.i.i

for.body.i43.i.i:
  %i.029.i.i.i = phi i64 [ 0, %for.body.lr.ph.i41.i.i ], [ %inc.i46.i.i, %for.cond.i.i.i ]
  %arrayidx.i44.i.i = getelementptr inbounds nuw %struct.planned_field, ptr %fields.i42.i.i, i64 %i.029.i.i.i
  %61 = load i64, ptr %arrayidx.i44.i.i, align 8
  %add.ptr.i.i.i45.i.i = getelementptr inbounds i8, ptr %1, i64 %61
  %62 = load ptr, ptr %add.ptr.i.i.i45.i.i, align 8
  %63 = ptrtoint ptr %62 to i64
  %arrayidx4.i.i.i = getelementptr inbounds nuw i64, ptr %fields3.i.i.i, i64 %i.029.i.i.i
  store i64 %63, ptr %arrayidx4.i.i.i, align 8
  %cmp7.i.i.i = icmp eq ptr %62, null
  br i1 %cmp7.i.i.i, label %cond.end.i.i, label %for.cond.i.i.i

for.end.i39.i.i:
  %64 = load ptr, ptr %cursor.i.i29.i.i, align 8
  %add.ptr.i40.i.i = getelementptr inbounds nuw i64, ptr %64, i64 %add.i.i.i
  store ptr %add.ptr.i40.i.i, ptr %cursor.i.i29.i.i, align 8
  store i64 %sub.ptr.rhs.cast.i.i31.i.i, ptr %slot, align 8
  br label %cond.end.i.i

cond.end.i.i:
  %cond7.i.i = phi i32 [ 0, %for.body.i.i.i ], [ -1, %cond.true.i.i ], [ 1, %for.end.i.i.i ], [ -1, %cond.false.i.i ], [ 1, %for.end.i39.i.i ], [ 0, %for.body.i43.i.i ]
  %65 = load i64, ptr %slot, align 8
  store ptr %1, ptr %met.0.i.i.i, align 8
  %.compoundliteral.sroa.2.0..sroa_idx.i.i = getelementptr inbounds nuw i8, ptr %met.0.i.i.i, i64 8
  store i64 %65, ptr %.compoundliteral.sroa.2.0..sroa_idx.i.i, align 8
  %.compoundliteral.sroa.3.0..sroa_idx.i.i = getelementptr inbounds nuw i8, ptr %met.0.i.i.i, i64 16
  store ptr %29, ptr %.compoundliteral.sroa.3.0..sroa_idx.i.i, align 8
  %.compoundliteral.sroa.4.0..sroa_idx.i.i = getelementptr inbounds nuw i8, ptr %met.0.i.i.i, i64 24
  store i64 0, ptr %.compoundliteral.sroa.4.0..sroa_idx.i.i, align 8
  br label %cleanup10

cleanup10:
  %retval.1 = phi i32 [ %cond7.i.i, %cond.end.i.i ], [ 0, %if.end.i.i ], [ -1, %if.end.i ], [ 1, %for.end.i ], [ 0, %land.lhs.true.i.i ], [ 0, %if.then ], [ 0, %for.cond.preheader ], [ 1, %if.then.i ], [ 1, %if.then4.i ], [ %cond.i.i, %if.then.i.i ], [ 0, %for.body.i ], [ 0, %for.cond ]
  ret i32 %retval.1
}

define i32 @relay_call(ptr readonly captures(none) %arrays, ptr %frame) nounwind {
entry:
  %wanted1.i = getelementptr inbounds nuw i8, ptr %frame, i64 24
  %0 = load ptr, ptr %wanted1.i, align 8
  %layout2.i = getelementptr inbounds nuw i8, ptr %0, i64 16
  %items3.i = getelementptr inbounds nuw i8, ptr %0, i64 8
  %1 = load i64, ptr %items3.i, align 8
  %add.ptr.i.i = getelementptr inbounds i8, ptr %arrays, i64 %1
  %symbols.i = getelementptr inbounds nuw i8, ptr %frame, i64 48
  %2 = load ptr, ptr %symbols.i, align 8
  %symbol_count.i = getelementptr inbounds nuw i8, ptr %0, i64 72
  %3 = load i64, ptr %symbol_count.i, align 8
  %mul.i = shl i64 %3, 3
  tail call void @llvm.memset.p0.i64(ptr align 8 %2, i8 -1, i64 %mul.i, i1 false)
  %4 = load i64, ptr %0, align 8
  %cmp.not51.i = icmp slt i64 %4, 1
  br i1 %cmp.not51.i, label %if.end, label %for.body.lr.ph.i

for.body.lr.ph.i:
  %arrays4.i = getelementptr inbounds nuw i8, ptr %0, i64 80
  %element_type2.i.i = getelementptr inbounds nuw i8, ptr %0, i64 48
  %flags1.i.i = getelementptr inbounds nuw i8, ptr %0, i64 56
  %wanted_flags.i.i = getelementptr inbounds nuw i8, ptr %0, i64 64
  %rank.i.i.i = getelementptr inbounds nuw i8, ptr %0, i64 32
  %extents.i.i = getelementptr inbounds nuw i8, ptr %0, i64 40
  %data.i = getelementptr inbounds nuw i8, ptr %0, i64 24
  %buffers.i = getelementptr inbounds nuw i8, ptr %frame, i64 56
  br label %for.body.i

for.body.i:
  %spec.053.i = phi ptr [ %arrays4.i, %for.body.lr.ph.i ], [ %add.ptr15.i, %if.end12.i ]
  %i.052.i = phi i64 [ 0, %for.body.lr.ph.i ], [ %inc.i, %if.end12.i ]
  %arrayidx.i = getelementptr inbounds nuw ptr, ptr %add.ptr.i.i, i64 %i.052.i
  %5 = load ptr, ptr %arrayidx.i, align 8
  %arrayidx5.i = getelementptr inbounds nuw i8, ptr %spec.053.i, i64 8
  %6 = load i64, ptr %arrayidx5.i, align 8
  %type.i.i = getelementptr inbounds nuw i8, ptr %5, i64 8
  %7 = load ptr, ptr %type.i.i, align 8
  %8 = load ptr, ptr %layout2.i, align 8
  %cmp.not.i.i = icmp eq ptr %7, %8
  br i1 %cmp.not.i.i, label %if.end.i.i, label %return

if.end.i.i:
  %9 = load i64, ptr %spec.053.i, align 8
  %10 = inttoptr i64 %9 to ptr
  %11 = load i64, ptr %element_type2.i.i, align 8
  %add.ptr.i.i.i.i = getelementptr inbounds i8, ptr %5, i64 %11
  %12 = load ptr, ptr %add.ptr.i.i.i.i, align 8
  %cmp4.i.i = icmp eq ptr %12, %10
  br i1 %cmp4.i.i, label %land.lhs.true.i.i, label %return

land.lhs.true.i.i:
  %13 = load i64, ptr %flags1.i.i, align 8
  %add.ptr.i.i.i = getelementptr inbounds i8, ptr %5, i64 %13
  %14 = load i32, ptr %add.ptr.i.i.i, align 4
  %15 = load i64, ptr %wanted_flags.i.i, align 8
  %conv.i.i = trunc i64 %15 to i32
  %16 = load i64, ptr %rank.i.i.i, align 8
  %add.ptr.i.i19.i.i = getelementptr inbounds i8, ptr %5, i64 %16
  %17 = load i32, ptr %add.ptr.i.i19.i.i, align 4
  %conv.i.i.i = sext i32 %17 to i64
  %cmp7.i.i = icmp eq i64 %6, %conv.i.i.i
  %and.i.i = and i32 %14, %conv.i.i
  %cmp9.i.i = icmp eq i32 %and.i.i, %conv.i.i
  %or.cond.i = select i1 %cmp7.i.i, i1 %cmp9.i.i, i1 false
  br i1 %or.cond.i, label %if.end.i, label %return

if.end.i:
  %18 = load i64, ptr %extents.i.i, align 8
  %add.ptr.i.i.i44.i = getelementptr inbounds i8, ptr %5, i64 %18
  %19 = load ptr, ptr %add.ptr.i.i.i44.i, align 8
  %add.ptr.i = getelementptr inbounds nuw i8, ptr %spec.053.i, i64 16
  %20 = load ptr, ptr %symbols.i, align 8
  %cmp5.i.i = icmp slt i64 %6, 1
  br i1 %cmp5.i.i, label %if.end12.i, label %for.body.i.i

for.body.i.i:
  %axis.06.i.i = phi i64 [ %inc.i.i, %for.inc.i.i ], [ 0, %if.end.i ]
  %arrayidx.i.i = getelementptr inbounds nuw i64, ptr %19, i64 %axis.06.i.i
  %21 = load i64, ptr %arrayidx.i.i, align 8
  %arrayidx1.i.i = getelementptr inbounds nuw i64, ptr %add.ptr.i, i64 %axis.06.i.i
  %22 = load i64, ptr %arrayidx1.i.i, align 8
  %cmp.i.i.i = icmp sgt i64 %22, -1
  br i1 %cmp.i.i.i, label %if.then.i.i.i, label %extent_fits.exit.i.i

if.then.i.i.i:
  %cmp1.i.i.i = icmp eq i64 %21, %22
  br i1 %cmp1.i.i.i, label %for.inc.i.i, label %return

extent_fits.exit.i.i:
  %not.i.i.i = xor i64 %22, -1
  %arrayidx.i.i.i = getelementptr inbounds nuw i64, ptr %20, i64 %not.i.i.i
  %23 = load i64, ptr %arrayidx.i.i.i, align 8
  store i64 %21, ptr %arrayidx.i.i.i, align 8
  %cmp2.i.i.i = icmp slt i64 %23, 0
  %cmp3.i.i.i = icmp eq i64 %23, %21
  %24 = select i1 %cmp2.i.i.i, i1 true, i1 %cmp3.i.i.i
  br i1 %24, label %for.inc.i.i, label %return

for.inc.i.i:
  %inc.i.i = add nuw nsw i64 %axis.06.i.i, 1
  %exitcond.not.i.i = icmp eq i64 %inc.i.i, %6
  br i1 %exitcond.not.i.i, label %if.end12.i, label %for.body.i.i

if.end12.i:
  %25 = load i64, ptr %data.i, align 8
  %add.ptr.i.i45.i = getelementptr inbounds i8, ptr %5, i64 %25
  %26 = load ptr, ptr %add.ptr.i.i45.i, align 8
  %arrayidx14.i = getelementptr inbounds nuw ptr, ptr %buffers.i, i64 %i.052.i
  store ptr %26, ptr %arrayidx14.i, align 8
  %27 = getelementptr i64, ptr %spec.053.i, i64 %6
  %add.ptr15.i = getelementptr i8, ptr %27, i64 16
  %inc.i = add nuw nsw i64 %i.052.i, 1
  %28 = load i64, ptr %0, align 8
  %cmp.not.not.i = icmp slt i64 %inc.i, %28
  br i1 %cmp.not.not.i, label %for.body.i, label %if.end

if.end:
  %give_up_lock = getelementptr inbounds nuw i8, ptr %frame, i64 32
  %29 = load ptr, ptr %give_up_lock, align 8
  %call1 = tail call ptr %29() nounwind
  %30 = load ptr, ptr %frame, align 8
  %buffers = getelementptr inbounds nuw i8, ptr %frame, i64 56
  %31 = load ptr, ptr %symbols.i, align 8
  %workspace = getelementptr inbounds nuw i8, ptr %frame, i64 16
  %32 = load ptr, ptr %workspace, align 8
  %constants = getelementptr inbounds nuw i8, ptr %frame, i64 8
  %33 = load ptr, ptr %constants, align 8
  %call3 = tail call i32 %30(ptr nonnull %buffers, ptr %31, ptr %32, ptr %33) nounwind
  %take_lock = getelementptr inbounds nuw i8, ptr %frame, i64 40
  %34 = load ptr, ptr %take_lock, align 8
  tail call void %34(ptr %call1) nounwind
  %arrayidx.i13 = getelementptr inbounds i8, ptr %frame, i64 -8
  %35 = load ptr, ptr %arrayidx.i13, align 8
  %36 = load atomic i64, ptr %35 acquire, align 8
  %cmp.i.not = icmp eq i64 %36, 0
  %cond = select i1 %cmp.i.not, i32 %call3, i32 -5
  br label %return

return:
  %retval.0 = phi i32 [ %cond, %if.end ], [ -2147483648, %if.then.i.i.i ], [ -2147483648, %extent_fits.exit.i.i ], [ -2147483648, %for.body.i ], [ -2147483648, %land.lhs.true.i.i ], [ -2147483648, %if.end.i.i ]
  ret i32 %retval.0
}

define ptr @relay_alloc(i64 %bytes) nounwind {
entry:
  %memory.i = alloca ptr, align 8
  %cmp = icmp ugt i64 %bytes, 9223372036854775743
  br i1 %cmp, label %return, label %if.end

if.end:
  %cond = tail call i64 @llvm.umax.i64(i64 %bytes, i64 64)
  %cmp.i.i = icmp samesign ugt i64 %bytes, 1048575
  %.3.i.i = select i1 %cmp.i.i, i64 8, i64 64
  %0 = add nsw i64 %cond, -4096
  %1 = icmp ult i64 %0, 33550337
  br i1 %1, label %for.body.preheader.i, label %if.then3

for.body.preheader.i:
  %invariant.op.i = shl nuw nsw i64 %cond, 1
  %..i.i = select i1 %cmp.i.i, i64 0, i64 8
  br label %for.body.i

for.body.i:
  %place.013.i = phi i64 [ %inc.i, %take_at.exit.i ], [ %..i.i, %for.body.preheader.i ]
  %arrayidx.i.i = getelementptr inbounds nuw i64, ptr @kept_bytes, i64 %place.013.i
  %2 = load atomic i64, ptr %arrayidx.i.i monotonic, align 8
  %cmp.not.i.i.i = icmp uge i64 %2, %cond
  %cmp1.i.i.i = icmp ule i64 %2, %invariant.op.i
  %3 = select i1 %cmp.not.i.i.i, i1 %cmp1.i.i.i, i1 false
  br i1 %3, label %if.end.i.i, label %take_at.exit.i

if.end.i.i:
  %arrayidx1.i.i = getelementptr inbounds nuw ptr, ptr @kept_blocks, i64 %place.013.i
  %4 = atomicrmw xchg ptr %arrayidx1.i.i, i64 0 acquire, align 8
  %5 = inttoptr i64 %4 to ptr
  %cmp.i9.i = icmp eq i64 %4, 0
  br i1 %cmp.i9.i, label %take_at.exit.i, label %lor.lhs.false.i.i

lor.lhs.false.i.i:
  %6 = load i64, ptr %5, align 8
  %cmp.not.i13.i.i = icmp uge i64 %6, %cond
  %cmp1.i15.i.i = icmp ule i64 %6, %invariant.op.i
  %7 = select i1 %cmp.not.i13.i.i, i1 %cmp1.i15.i.i, i1 false
  br i1 %7, label %if.end5, label %if.end6.i.i

if.end6.i.i:
  %8 = add i64 %6, -4096
  %9 = icmp ult i64 %8, 33550337
  br i1 %9, label %for.body.lr.ph.i.i.i, label %keep.exit.i.i

for.body.lr.ph.i.i.i:
  %cmp.i.i.i.i = icmp samesign ugt i64 %6, 1048575
  %..i.i.i.i = select i1 %cmp.i.i.i.i, i64 0, i64 8
  %.3.i.i.i.i = select i1 %cmp.i.i.i.i, i64 8, i64 64
  br label %for.body.i.i.i

for.body.i.i.i:
  %place.035.i.i.i = phi i64 [ %..i.i.i.i, %for.body.lr.ph.i.i.i ], [ %inc.i.i.i, %for.inc.i.i.i ]
  %arrayidx.i.i.i.i = getelementptr inbounds nuw ptr, ptr @kept_blocks, i64 %place.035.i.i.i
  %10 = load atomic i64, ptr %arrayidx.i.i.i.i monotonic, align 8
  %cmp.not.i.i.i.i = icmp eq i64 %10, 0
  br i1 %cmp.not.i.i.i.i, label %if.end.i.i.i.i, label %for.inc.i.i.i

if.end.i.i.i.i:
  %11 = cmpxchg ptr %arrayidx.i.i.i.i, i64 0, i64 %4 release monotonic, align 8
  %12 = extractvalue { i64, i1 } %11, 1
  br i1 %12, label %cleanup18.sink.split.i.i.i, label %for.inc.i.i.i

for.inc.i.i.i:
  %inc.i.i.i = add nuw nsw i64 %place.035.i.i.i, 1
  %cmp.not.i16.i.i = icmp samesign ult i64 %inc.i.i.i, %.3.i.i.i.i
  br i1 %cmp.not.i16.i.i, label %for.body.i.i.i, label %for.end.i.i.i

for.end.i.i.i:
  %13 = atomicrmw add ptr @replaced, i64 1 monotonic, align 8
  %sub.i17.i.i = select i1 %cmp.i.i.i.i, i64 8, i64 56
  %rem.i.i.i = urem i64 %13, %sub.i17.i.i
  %add.i.i.i = add nuw nsw i64 %rem.i.i.i, %..i.i.i.i
  %arrayidx.i.i.i = getelementptr inbounds nuw ptr, ptr @kept_blocks, i64 %add.i.i.i
  %14 = atomicrmw xchg ptr %arrayidx.i.i.i, i64 %4 acq_rel, align 8
  %15 = inttoptr i64 %14 to ptr
  br label %cleanup18.sink.split.i.i.i

cleanup18.sink.split.i.i.i:
  %place.035.lcssa.sink.i.i.i = phi i64 [ %add.i.i.i, %for.end.i.i.i ], [ %place.035.i.i.i, %if.end.i.i.i.i ]
  %retval.2.ph.i.i.i = phi ptr [ %15, %for.end.i.i.i ], [ null, %if.end.i.i.i.i ]
  %arrayidx4.i.i.i.i = getelementptr inbounds nuw i64, ptr @kept_bytes, i64 %place.035.lcssa.sink.i.i.i
  store atomic i64 %6, ptr %arrayidx4.i.i.i.i monotonic, align 8
  br label %keep.exit.i.i

keep.exit.i.i:
  %retval.2.i.i.i = phi ptr [ %5, %if.end6.i.i ], [ %retval.2.ph.i.i.i, %cleanup18.sink.split.i.i.i ]
  tail call void @free(ptr %retval.2.i.i.i) nounwind
  br label %take_at.exit.i

take_at.exit.i:
  %retval.1.i.i = phi ptr [ null, %for.body.i ], [ null, %keep.exit.i.i ], [ %5, %if.end.i.i ]
  %inc.i = add nuw nsw i64 %place.013.i, 1
  %cmp.i = icmp samesign ult i64 %inc.i, %.3.i.i
  %cmp2.i = icmp eq ptr %retval.1.i.i, null
  %16 = and i1 %cmp.i, %cmp2.i
  br i1 %16, label %for.body.i, label %take.exit

take.exit:
  br i1 %cmp2.i, label %if.then3, label %if.end5

if.then3:
  call void @llvm.lifetime.start.p0(ptr nonnull %memory.i) nounwind
  store ptr null, ptr %memory.i, align 8
  %add.i = add nuw nsw i64 %cond, 64
  %call.i = call i32 @posix_memalign(ptr nonnull %memory.i, i64 64, i64 %add.i) nounwind
  %cmp.not.i = icmp eq i32 %call.i, 0
  br i1 %cmp.not.i, label %if.end.i, label %ask_system.exit

if.end.i:
  %17 = load ptr, ptr %memory.i, align 8
  store i64 %cond, ptr %17, align 8
  br label %ask_system.exit

ask_system.exit:
  %retval.0.i = phi ptr [ %17, %if.end.i ], [ null, %if.then3 ]
  call void @llvm.lifetime.end.p0(ptr nonnull %memory.i) nounwind
  br label %if.end5

if.end5:
  %block.0 = phi ptr [ %retval.0.i, %ask_system.exit ], [ %retval.1.i.i, %take.exit ], [ %5, %lor.lhs.false.i.i ]
  %cmp6 = icmp eq ptr %block.0, null
  %add.ptr = getelementptr inbounds nuw i8, ptr %block.0, i64 64
  %cond10 = select i1 %cmp6, ptr null, ptr %add.ptr
  br label %return

return:
  %retval.0 = phi ptr [ %cond10, %if.end5 ], [ null, %entry ]
  ret ptr %retval.0
}

define void @relay_free(ptr %memory) nounwind {
entry:
  %cmp.not = icmp eq ptr %memory, null
  br i1 %cmp.not, label %if.end, label %if.then

if.then:
  %add.ptr = getelementptr inbounds i8, ptr %memory, i64 -64
  %0 = load i64, ptr %add.ptr, align 8
  %1 = add i64 %0, -4096
  %2 = icmp ult i64 %1, 33550337
  br i1 %2, label %for.body.lr.ph.i, label %keep.exit

for.body.lr.ph.i:
  %cmp.i.i = icmp samesign ugt i64 %0, 1048575
  %..i.i = select i1 %cmp.i.i, i64 0, i64 8
  %.3.i.i = select i1 %cmp.i.i, i64 8, i64 64
  %3 = ptrtoint ptr %add.ptr to i64
  br label %for.body.i

for.body.i:
  %place.035.i = phi i64 [ %..i.i, %for.body.lr.ph.i ], [ %inc.i, %for.inc.i ]
  %arrayidx.i.i = getelementptr inbounds nuw ptr, ptr @kept_blocks, i64 %place.035.i
  %4 = load atomic i64, ptr %arrayidx.i.i monotonic, align 8
  %cmp.not.i.i = icmp eq i64 %4, 0
  br i1 %cmp.not.i.i, label %if.end.i.i, label %for.inc.i

if.end.i.i:
  %5 = cmpxchg ptr %arrayidx.i.i, i64 0, i64 %3 release monotonic, align 8
  %6 = extractvalue { i64, i1 } %5, 1
  br i1 %6, label %cleanup18.sink.split.i, label %for.inc.i

for.inc.i:
  %inc.i = add nuw nsw i64 %place.035.i, 1
  %cmp.not.i = icmp samesign ult i64 %inc.i, %.3.i.i
  br i1 %cmp.not.i, label %for.body.i, label %for.end.i

for.end.i:
  %7 = atomicrmw add ptr @replaced, i64 1 monotonic, align 8
  %sub.i = select i1 %cmp.i.i, i64 8, i64 56
  %rem.i = urem i64 %7, %sub.i
  %add.i = add nuw nsw i64 %rem.i, %..i.i
  %arrayidx.i = getelementptr inbounds nuw ptr, ptr @kept_blocks, i64 %add.i
  %8 = atomicrmw xchg ptr %arrayidx.i, i64 %3 acq_rel, align 8
  %9 = inttoptr i64 %8 to ptr
  br label %cleanup18.sink.split.i

cleanup18.sink.split.i:
  %place.035.lcssa.sink.i = phi i64 [ %add.i, %for.end.i ], [ %place.035.i, %if.end.i.i ]
  %retval.2.ph.i = phi ptr [ %9, %for.end.i ], [ null, %if.end.i.i ]
  %arrayidx4.i.i = getelementptr inbounds nuw i64, ptr @kept_bytes, i64 %place.035.lcssa.sink.i
  store atomic i64 %0, ptr %arrayidx4.i.i monotonic, align 8
  br label %keep.exit

keep.exit:
  %retval.2.i = phi ptr [ %add.ptr, %if.then ], [ %retval.2.ph.i, %cleanup18.sink.split.i ]
  tail call void @free(ptr %retval.2.i) nounwind
  br label %if.end

if.end:
  ret void
}

declare void @free(ptr)

define noundef ptr @relay_watch(i64 %start, i64 %bytes) nounwind {
entry:
  %action.i = alloca %struct.signal_action, align 8
  %0 = cmpxchg ptr @is_handling, i32 0, i32 1 acq_rel acquire, align 4
  %1 = extractvalue { i32, i1 } %0, 1
  br i1 %1, label %if.end.i, label %for.body.preheader

if.end.i:
  call void @llvm.lifetime.start.p0(ptr nonnull %action.i) nounwind
  call void @llvm.memcpy.p0.p0.i64(ptr noundef nonnull align 8 dereferenceable(152) %action.i, ptr noundef nonnull align 8 dereferenceable(152) @__const.handle_once.action, i64 152, i1 false)
  %call.i = call i32 @sigaction(i32 7, ptr nonnull %action.i, ptr nonnull @before) nounwind
  call void @llvm.lifetime.end.p0(ptr nonnull %action.i) nounwind
  br label %for.body.preheader

for.body.preheader:
  br label %for.body

for.cond:
  %inc = add nuw nsw i64 %i.020, 1
  %exitcond.not = icmp eq i64 %inc, 1024
  br i1 %exitcond.not, label %.loopexit, label %for.body

for.body:
  %i.020 = phi i64 [ %inc, %for.cond ], [ 0, %for.body.preheader ]
  %arrayidx = getelementptr inbounds nuw %struct.range, ptr @ranges, i64 %i.020
  %2 = cmpxchg ptr %arrayidx, i64 0, i64 1 acq_rel acquire, align 8
  %3 = extractvalue { i64, i1 } %2, 1
  br i1 %3, label %cleanup7, label %for.cond

cleanup7:
  %bytes2 = getelementptr inbounds nuw i8, ptr %arrayidx, i64 8
  store i64 %bytes, ptr %bytes2, align 8
  %lost = getelementptr inbounds nuw i8, ptr %arrayidx, i64 16
  store i64 0, ptr %lost, align 8
  store atomic i64 %start, ptr %arrayidx release, align 8
  br label %.loopexit

.loopexit:
  %4 = phi ptr [ %lost, %cleanup7 ], [ null, %for.cond ]
  ret ptr %4
}

define void @relay_unwatch(ptr writeonly captures(none) %lost) nounwind {
entry:
  %add.ptr = getelementptr inbounds i8, ptr %lost, i64 -16
  store atomic i64 0, ptr %add.ptr release, align 8
  ret void
}

define void @relay_limit_threads(i32 %count) nounwind {
entry:
  %call = tail call i32 @pthread_once(ptr nonnull @limit_once, ptr nonnull @make_limit_key) nounwind
  %0 = load atomic i32, ptr @has_limit_key acquire, align 4
  %cmp.i.not = icmp eq i32 %0, 0
  br i1 %cmp.i.not, label %if.end, label %if.then

if.then:
  %1 = load i32, ptr @limit_key, align 4
  %conv = zext i32 %count to i64
  %2 = inttoptr i64 %conv to ptr
  %call2 = tail call i32 @pthread_setspecific(i32 %1, ptr %2) nounwind
  br label %if.end

if.end:
  ret void
}

declare i32 @pthread_once(ptr, ptr)

define internal void @make_limit_key() nounwind {
entry:
  %call = tail call i32 @pthread_key_create(ptr nonnull @limit_key, ptr null) nounwind
  %cmp = icmp eq i32 %call, 0
  %conv = zext i1 %cmp to i32
  store atomic i32 %conv, ptr @has_limit_key release, align 4
  ret void
}

declare i32 @pthread_setspecific(i32, ptr)

define i32 @relay_num_threads() nounwind {
entry:
  %0 = load atomic i64, ptr @pool_pages acquire, align 8
  %cmp.not.i = icmp eq i64 %0, 0
  br i1 %cmp.not.i, label %cond.false.i, label %cond.true.i

cond.true.i:
  %1 = inttoptr i64 %0 to ptr
  br label %find_pool.exit

cond.false.i:
  %call.i = tail call fastcc ptr @make_pool()
  br label %find_pool.exit

find_pool.exit:
  %cond.i = phi ptr [ %1, %cond.true.i ], [ %call.i, %cond.false.i ]
  %cmp = icmp eq ptr %cond.i, null
  br i1 %cmp, label %cond.end, label %cond.false

cond.false:
  %processors.i.i = getelementptr inbounds nuw i8, ptr %cond.i, i64 8
  %2 = load atomic i32, ptr %processors.i.i monotonic, align 8
  %cmp.i.i = icmp eq i32 %2, 0
  br i1 %cmp.i.i, label %if.then.i.i, label %processors_of.exit.i

if.then.i.i:
  %call.i.i = tail call fastcc i32 @count_processors()
  store atomic i32 %call.i.i, ptr %processors.i.i monotonic, align 8
  br label %processors_of.exit.i

processors_of.exit.i:
  %count.0.i.i = phi i32 [ %call.i.i, %if.then.i.i ], [ %2, %cond.false ]
  %3 = load atomic i32, ptr @asked_threads monotonic, align 4
  %cmp.i6.i = icmp sgt i32 %3, 0
  %cond.i.i.i = tail call i32 @llvm.smin.i32(i32 %3, i32 %count.0.i.i)
  %cond.i.i = select i1 %cmp.i6.i, i32 %cond.i.i.i, i32 %count.0.i.i
  %4 = load atomic i32, ptr @has_limit_key acquire, align 4
  %cmp.i7.not.i = icmp eq i32 %4, 0
  br i1 %cmp.i7.not.i, label %cond.end, label %cond.true.i3

cond.true.i3:
  %5 = load i32, ptr @limit_key, align 4
  %call3.i = tail call ptr @pthread_getspecific(i32 %5) nounwind
  %6 = ptrtoint ptr %call3.i to i64
  %conv.i = trunc i64 %6 to i32
  %cmp.i8.i = icmp sgt i32 %conv.i, 0
  %cond.i.i9.i = tail call i32 @llvm.smin.i32(i32 %conv.i, i32 %cond.i.i)
  %cond.i10.i = select i1 %cmp.i8.i, i32 %cond.i.i9.i, i32 %cond.i.i
  br label %cond.end

cond.end:
  %cond = phi i32 [ 1, %find_pool.exit ], [ %cond.i10.i, %cond.true.i3 ], [ %cond.i.i, %processors_of.exit.i ]
  ret i32 %cond
}

define void @relay_set_num_threads(i32 %count) nounwind {
entry:
  store atomic i32 %count, ptr @asked_threads monotonic, align 4
  %0 = load atomic i64, ptr @pool_pages acquire, align 8
  %cmp.not = icmp eq i64 %0, 0
  br i1 %cmp.not, label %if.end, label %if.then

if.then:
  %1 = inttoptr i64 %0 to ptr
  %processors = getelementptr inbounds nuw i8, ptr %1, i64 8
  store atomic i32 0, ptr %processors monotonic, align 8
  br label %if.end

if.end:
  ret void
}

define void @relay_set_pinning(i32 %on) nounwind {
entry:
  store atomic i32 %on, ptr @relay_target_pinning monotonic, align 4
  ret void
}

define void @relay_parallel_for(ptr %body, ptr %context, i64 %count, i64 %grain, i64 %backwards, ptr %scratch, i64 %scratch_bytes, i32 %most) nounwind {
entry:
  %cmp = icmp slt i64 %count, 1
  br i1 %cmp, label %cleanup9, label %if.end

if.end:
  %cmp1 = icmp sgt i64 %count, %grain
  br i1 %cmp1, label %cond.true, label %if.then3

cond.true:
  %0 = load atomic i64, ptr @pool_pages acquire, align 8
  %cmp.not.i.i = icmp eq i64 %0, 0
  br i1 %cmp.not.i.i, label %cond.false.i.i, label %cond.true.i.i

cond.true.i.i:
  %1 = inttoptr i64 %0 to ptr
  br label %find_pool.exit.i

cond.false.i.i:
  %call.i.i = tail call fastcc ptr @make_pool()
  br label %find_pool.exit.i

find_pool.exit.i:
  %cond.i.i = phi ptr [ %1, %cond.true.i.i ], [ %call.i.i, %cond.false.i.i ]
  %cmp.i = icmp eq ptr %cond.i.i, null
  br i1 %cmp.i, label %if.then3, label %cond.false.i

cond.false.i:
  %processors.i.i.i = getelementptr inbounds nuw i8, ptr %cond.i.i, i64 8
  %2 = load atomic i32, ptr %processors.i.i.i monotonic, align 8
  %cmp.i.i.i = icmp eq i32 %2, 0
  br i1 %cmp.i.i.i, label %if.then.i.i.i, label %processors_of.exit.i.i

if.then.i.i.i:
  %call.i.i.i = tail call fastcc i32 @count_processors()
  store atomic i32 %call.i.i.i, ptr %processors.i.i.i monotonic, align 8
  br label %processors_of.exit.i.i

processors_of.exit.i.i:
  %count.0.i.i.i = phi i32 [ %call.i.i.i, %if.then.i.i.i ], [ %2, %cond.false.i ]
  %3 = load atomic i32, ptr @asked_threads monotonic, align 4
  %cmp.i6.i.i = icmp sgt i32 %3, 0
  %cond.i.i.i.i = tail call i32 @llvm.smin.i32(i32 %3, i32 %count.0.i.i.i)
  %cond.i.i.i = select i1 %cmp.i6.i.i, i32 %cond.i.i.i.i, i32 %count.0.i.i.i
  %4 = load atomic i32, ptr @has_limit_key acquire, align 4
  %cmp.i7.not.i.i = icmp eq i32 %4, 0
  br i1 %cmp.i7.not.i.i, label %cond.end.i, label %cond.true.i19.i

cond.true.i19.i:
  %5 = load i32, ptr @limit_key, align 4
  %call3.i.i = tail call ptr @pthread_getspecific(i32 %5) nounwind
  %6 = ptrtoint ptr %call3.i.i to i64
  %conv.i.i = trunc i64 %6 to i32
  %cmp.i8.i.i = icmp sgt i32 %conv.i.i, 0
  %cond.i.i9.i.i = tail call i32 @llvm.smin.i32(i32 %conv.i.i, i32 %cond.i.i.i)
  %cond.i10.i.i = select i1 %cmp.i8.i.i, i32 %cond.i.i9.i.i, i32 %cond.i.i.i
  br label %cond.end.i

cond.end.i:
  %cond.i20.i = phi i32 [ %cond.i10.i.i, %cond.true.i19.i ], [ %cond.i.i.i, %processors_of.exit.i.i ]
  %cmp.i.i = icmp sgt i32 %most, 0
  %cond.i.i21.i = tail call i32 @llvm.smin.i32(i32 %most, i32 %cond.i20.i)
  %cond.i22.i = select i1 %cmp.i.i, i32 %cond.i.i21.i, i32 %cond.i20.i
  %sub.i = add nsw i32 %cond.i22.i, -1
  %cmp3.i = icmp slt i32 %cond.i22.i, 2
  br i1 %cmp3.i, label %if.then3, label %lor.lhs.false.i

lor.lhs.false.i:
  %7 = cmpxchg ptr %cond.i.i, i32 0, i32 1 acquire monotonic, align 8
  %8 = extractvalue { i32, i1 } %7, 1
  br i1 %8, label %if.end.i, label %if.then3

if.end.i:
  %workers.i.i = getelementptr inbounds nuw i8, ptr %cond.i.i, i64 4
  %9 = load i32, ptr %workers.i.i, align 4
  %cmp.i23.i = icmp slt i32 %9, %sub.i
  br i1 %cmp.i23.i, label %if.then.i.i, label %hire.exit.i

if.then.i.i:
  tail call fastcc void @start_workers(ptr nonnull %cond.i.i, i32 range(i32 1, -2147483648) %sub.i)
  %.pre.i.i = load i32, ptr %workers.i.i, align 4
  br label %hire.exit.i

hire.exit.i:
  %10 = phi i32 [ %.pre.i.i, %if.then.i.i ], [ %9, %if.end.i ]
  %cond.i.i24.i = tail call i32 @llvm.smin.i32(i32 %10, i32 range(i32 1, -2147483648) %sub.i)
  %cmp5.i.i = icmp sgt i32 %cond.i.i24.i, 0
  br i1 %cmp5.i.i, label %land.rhs.lr.ph.i.i, label %if.end9.i

land.rhs.lr.ph.i.i:
  %shares.i.i = getelementptr inbounds nuw i8, ptr %cond.i.i, i64 256
  %wide.trip.count.i.i = zext nneg i32 %cond.i.i24.i to i64
  br label %land.rhs.i.i

land.rhs.i.i:
  %indvars.iv.i.i = phi i64 [ 0, %land.rhs.lr.ph.i.i ], [ %indvars.iv.next.i.i, %while.cond.backedge.i.i ]
  %indvars.iv.next.i.i = add nuw nsw i64 %indvars.iv.i.i, 1
  %arrayidx.i.i = getelementptr inbounds nuw %struct.share, ptr %shares.i.i, i64 %indvars.iv.next.i.i
  %scratch_bytes.i.i.i = getelementptr inbounds nuw i8, ptr %arrayidx.i.i, i64 40
  %11 = load i64, ptr %scratch_bytes.i.i.i, align 8
  %cmp.not.i.i.i = icmp ult i64 %11, %scratch_bytes
  br i1 %cmp.not.i.i.i, label %if.end.i.i.i, label %while.cond.backedge.i.i

if.end.i.i.i:
  %scratch.i.i.i = getelementptr inbounds nuw i8, ptr %arrayidx.i.i, i64 32
  %12 = load ptr, ptr %scratch.i.i.i, align 8
  %cmp.not.i.i.i.i = icmp eq ptr %12, null
  br i1 %cmp.not.i.i.i.i, label %relay_free.exit.i.i.i, label %if.then.i.i.i.i

if.then.i.i.i.i:
  %add.ptr.i.i.i.i = getelementptr inbounds i8, ptr %12, i64 -64
  %13 = load i64, ptr %add.ptr.i.i.i.i, align 8
  %14 = add i64 %13, -4096
  %15 = icmp ult i64 %14, 33550337
  br i1 %15, label %for.body.lr.ph.i.i.i.i.i, label %keep.exit.i.i.i.i

for.body.lr.ph.i.i.i.i.i:
  %cmp.i.i.i.i.i.i = icmp samesign ugt i64 %13, 1048575
  %..i.i.i.i.i.i = select i1 %cmp.i.i.i.i.i.i, i64 0, i64 8
  %.3.i.i.i.i.i.i = select i1 %cmp.i.i.i.i.i.i, i64 8, i64 64
  %16 = ptrtoint ptr %add.ptr.i.i.i.i to i64
  br label %for.body.i.i.i.i.i

for.body.i.i.i.i.i:
  %place.035.i.i.i.i.i = phi i64 [ %..i.i.i.i.i.i, %for.body.lr.ph.i.i.i.i.i ], [ %inc.i.i.i.i.i, %for.inc.i.i.i.i.i ]
  %arrayidx.i.i.i.i.i.i = getelementptr inbounds nuw ptr, ptr @kept_blocks, i64 %place.035.i.i.i.i.i
  %17 = load atomic i64, ptr %arrayidx.i.i.i.i.i.i monotonic, align 8
  %cmp.not.i.i.i.i.i.i = icmp eq i64 %17, 0
  br i1 %cmp.not.i.i.i.i.i.i, label %if.end.i.i.i.i.i.i, label %for.inc.i.i.i.i.i

if.end.i.i.i.i.i.i:
  %18 = cmpxchg ptr %arrayidx.i.i.i.i.i.i, i64 0, i64 %16 release monotonic, align 8
  %19 = extractvalue { i64, i1 } %18, 1
  br i1 %19, label %cleanup18.sink.split.i.i.i.i.i, label %for.inc.i.i.i.i.i

for.inc.i.i.i.i.i:
  %inc.i.i.i.i.i = add nuw nsw i64 %place.035.i.i.i.i.i, 1
  %cmp.not.i.i.i.i.i = icmp samesign ult i64 %inc.i.i.i.i.i, %.3.i.i.i.i.i.i
  br i1 %cmp.not.i.i.i.i.i, label %for.body.i.i.i.i.i, label %for.end.i.i.i.i.i

for.end.i.i.i.i.i:
  %20 = atomicrmw add ptr @replaced, i64 1 monotonic, align 8
  %sub.i.i.i.i.i = select i1 %cmp.i.i.i.i.i.i, i64 8, i64 56
  %rem.i.i.i.i.i = urem i64 %20, %sub.i.i.i.i.i
  %add.i.i.i.i.i = add nuw nsw i64 %rem.i.i.i.i.i, %..i.i.i.i.i.i
  %arrayidx.i.i.i.i.i = getelementptr inbounds nuw ptr, ptr @kept_blocks, i64 %add.i.i.i.i.i
  %21 = atomicrmw xchg ptr %arrayidx.i.i.i.i.i, i64 %16 acq_rel, align 8
  %22 = inttoptr i64 %21 to ptr
  br label %cleanup18.sink.split.i.i.i.i.i

cleanup18.sink.split.i.i.i.i.i:
  %place.035.lcssa.sink.i.i.i.i.i = phi i64 [ %add.i.i.i.i.i, %for.end.i.i.i.i.i ], [ %place.035.i.i.i.i.i, %if.end.i.i.i.i.i.i ]
  %retval.2.ph.i.i.i.i.i = phi ptr [ %22, %for.end.i.i.i.i.i ], [ null, %if.end.i.i.i.i.i.i ]
  %arrayidx4.i.i.i.i.i.i = getelementptr inbounds nuw i64, ptr @kept_bytes, i64 %place.035.lcssa.sink.i.i.i.i.i
  store atomic i64 %13, ptr %arrayidx4.i.i.i.i.i.i monotonic, align 8
  br label %keep.exit.i.i.i.i

keep.exit.i.i.i.i:
  %retval.2.i.i.i.i.i = phi ptr [ %add.ptr.i.i.i.i, %if.then.i.i.i.i ], [ %retval.2.ph.i.i.i.i.i, %cleanup18.sink.split.i.i.i.i.i ]
  tail call void @free(ptr %retval.2.i.i.i.i.i) nounwind
  br label %relay_free.exit.i.i.i

relay_free.exit.i.i.i:
  %call.i.i25.i = tail call ptr @relay_alloc(i64 %scratch_bytes)
  store ptr %call.i.i25.i, ptr %scratch.i.i.i, align 8
  %cmp3.i.i.i = icmp eq ptr %call.i.i25.i, null
  %cond.i.i26.i = select i1 %cmp3.i.i.i, i64 0, i64 %scratch_bytes
  store i64 %cond.i.i26.i, ptr %scratch_bytes.i.i.i, align 8
  br i1 %cmp3.i.i.i, label %while.end.loopexit.split.loop.exit.i.i, label %while.cond.backedge.i.i

while.cond.backedge.i.i:
  %exitcond.not.i.i = icmp eq i64 %indvars.iv.next.i.i, %wide.trip.count.i.i
  br i1 %exitcond.not.i.i, label %equip.exit.i, label %land.rhs.i.i

while.end.loopexit.split.loop.exit.i.i:
  %23 = trunc nuw nsw i64 %indvars.iv.i.i to i32
  br label %equip.exit.i

equip.exit.i:
  %ready.0.lcssa.i.i = phi i32 [ %23, %while.end.loopexit.split.loop.exit.i.i ], [ %cond.i.i24.i, %while.cond.backedge.i.i ]
  %cmp7.not.i = icmp eq i32 %ready.0.lcssa.i.i, 0
  br i1 %cmp7.not.i, label %if.end9.i, label %if.end4

if.end9.i:
  store atomic i32 0, ptr %cond.i.i release, align 8
  br label %if.then3

if.then3:
  tail call void %body(ptr %context, i64 0, i64 %count, ptr %scratch) nounwind
  br label %cleanup9

if.end4:
  %add = add nsw i32 %ready.0.lcssa.i.i, 1
  %cmp5.not = icmp eq i64 %backwards, 0
  %cond.i = tail call i64 @llvm.smax.i64(i64 %grain, i64 1)
  %add.i.i = add nsw i64 %count, -1
  %sub.i.i = add nuw i64 %add.i.i, %cond.i
  %div.i.i = sdiv i64 %sub.i.i, %cond.i
  %team1.i = getelementptr inbounds nuw i8, ptr %cond.i.i, i64 220
  store i32 %add, ptr %team1.i, align 4
  %conv.i = sext i32 %add to i64
  %mul.i = shl nsw i64 %conv.i, 2
  %add.i36.i = add nsw i64 %mul.i, -1
  %sub.i37.i = add i64 %add.i36.i, %div.i.i
  %div.i38.i = sdiv i64 %sub.i37.i, %mul.i
  %mul3.i = mul nsw i64 %div.i38.i, %cond.i
  %chunk.i = getelementptr inbounds nuw i8, ptr %cond.i.i, i64 208
  store i64 %mul3.i, ptr %chunk.i, align 8
  %cmp539.i = icmp sgt i32 %ready.0.lcssa.i.i, -1
  br i1 %cmp539.i, label %for.body.i, label %share_out.exit

for.body.i:
  %begin.041.i = phi i64 [ %cond.i.i26, %for.body.i ], [ 0, %if.end4 ]
  %thread.040.i = phi i64 [ %add.i, %for.body.i ], [ 0, %if.end4 ]
  %arrayidx.i = getelementptr inbounds nuw %struct.share, ptr %shares.i.i, i64 %thread.040.i
  %add.i = add nuw nsw i64 %thread.040.i, 1
  %mul7.i = mul nsw i64 %add.i, %div.i.i
  %div.i = sdiv i64 %mul7.i, %conv.i
  %mul9.i = mul nsw i64 %div.i, %cond.i
  %cond.i.i26 = tail call i64 @llvm.smin.i64(i64 %mul9.i, i64 range(i64 1, -9223372036854775808) %count)
  store atomic i64 %begin.041.i, ptr %arrayidx.i monotonic, align 8
  %end11.i = getelementptr inbounds nuw i8, ptr %arrayidx.i, i64 8
  store i64 %cond.i.i26, ptr %end11.i, align 8
  %add14.i = add nsw i64 %cond.i.i26, %begin.041.i
  %cond17.i = select i1 %cmp5.not, i64 0, i64 %add14.i
  %mirror.i = getelementptr inbounds nuw i8, ptr %arrayidx.i, i64 24
  store i64 %cond17.i, ptr %mirror.i, align 8
  %exitcond.not.i = icmp eq i64 %add.i, %conv.i
  br i1 %exitcond.not.i, label %share_out.exit, label %for.body.i

share_out.exit:
  %body6 = getelementptr inbounds nuw i8, ptr %cond.i.i, i64 192
  store ptr %body, ptr %body6, align 8
  %context7 = getelementptr inbounds nuw i8, ptr %cond.i.i, i64 200
  store ptr %context, ptr %context7, align 8
  %24 = load atomic i32, ptr @has_owner_key acquire, align 4
  %tobool.not.i = icmp eq i32 %24, 0
  br i1 %tobool.not.i, label %cond.false.i30, label %if.end.i27

if.end.i27:
  %25 = load i32, ptr @owner_key, align 4
  %call.i = tail call ptr @pthread_getspecific(i32 %25) nounwind
  %26 = ptrtoint ptr %call.i to i64
  %tobool1.not.i = icmp eq ptr %call.i, null
  br i1 %tobool1.not.i, label %cond.false.i30, label %relay_stop_owner.exit

cond.false.i30:
  %call2.i = tail call i64 @pthread_self() nounwind
  br label %relay_stop_owner.exit

relay_stop_owner.exit:
  %cond.i29 = phi i64 [ %call2.i, %cond.false.i30 ], [ %26, %if.end.i27 ]
  %owner = getelementptr inbounds nuw i8, ptr %cond.i.i, i64 232
  store i64 %cond.i29, ptr %owner, align 8
  %wanted = getelementptr inbounds nuw i8, ptr %cond.i.i, i64 216
  store atomic i32 %ready.0.lcssa.i.i, ptr %wanted monotonic, align 8
  %gate.i = getelementptr inbounds nuw i8, ptr %cond.i.i, i64 128
  store atomic i32 -2147483648, ptr %gate.i release, align 8
  %epoch.i = getelementptr inbounds nuw i8, ptr %cond.i.i, i64 64
  %27 = atomicrmw add ptr %epoch.i, i32 1 seq_cst, align 8
  %sleepers.i = getelementptr inbounds nuw i8, ptr %cond.i.i, i64 68
  %28 = load atomic i32, ptr %sleepers.i seq_cst, align 4
  %cmp.i31 = icmp eq i32 %28, 0
  br i1 %cmp.i31, label %open_region.exit, label %if.end.i32

if.end.i32:
  %call.i.i33 = tail call i32 @sched_getcpu() nounwind
  %kept_free.i.i = getelementptr inbounds nuw i8, ptr %cond.i.i, i64 224
  %29 = load i32, ptr %kept_free.i.i, align 8
  %cmp.not.i.i34 = icmp eq i32 %call.i.i33, %29
  br i1 %cmp.not.i.i34, label %follow_caller.exit.i, label %if.then.i.i35

if.then.i.i35:
  tail call fastcc void @place_off(ptr nonnull %cond.i.i, i32 %ready.0.lcssa.i.i, i32 %call.i.i33)
  br label %follow_caller.exit.i

follow_caller.exit.i:
  %30 = load i64, ptr @relay_target_futex_number, align 8
  %call.i36 = tail call i64 (i64, ...) @syscall(i64 %30, ptr nonnull %epoch.i, i32 129, i32 2147483647, ptr null, ptr null, i32 0) nounwind
  br label %open_region.exit

open_region.exit:
  %31 = load ptr, ptr %body6, align 8
  %32 = load ptr, ptr %context7, align 8
  %33 = load i32, ptr %team1.i, align 4
  %cmp14.i = icmp sgt i32 %33, 0
  br i1 %cmp14.i, label %for.body.i39, label %run_chunks.exit

for.body.i39:
  %visited.016.i = phi i32 [ %inc.i, %run_share.exit.i ], [ 0, %open_region.exit ]
  %whose.015.i = phi i32 [ %cond.i42, %run_share.exit.i ], [ 0, %open_region.exit ]
  %idxprom.i = sext i32 %whose.015.i to i64
  %arrayidx.i40 = getelementptr inbounds %struct.share, ptr %shares.i.i, i64 %idxprom.i
  %34 = load i64, ptr %chunk.i, align 8
  %end2.i.i = getelementptr inbounds nuw i8, ptr %arrayidx.i40, i64 8
  %35 = load i64, ptr %end2.i.i, align 8
  %mirror3.i.i = getelementptr inbounds nuw i8, ptr %arrayidx.i40, i64 24
  %36 = load i64, ptr %mirror3.i.i, align 8
  %37 = load atomic i64, ptr %arrayidx.i40 monotonic, align 8
  %cmp35.i.i = icmp slt i64 %37, %35
  br i1 %cmp35.i.i, label %while.body.lr.ph.i.i, label %run_share.exit.i

while.body.lr.ph.i.i:
  %cmp7.not.i.i = icmp eq i64 %36, 0
  br label %while.body.i.i

while.body.i.i:
  %38 = atomicrmw add ptr %arrayidx.i40, i64 %34 monotonic, align 8
  %cmp6.not.i.i = icmp slt i64 %38, %35
  br i1 %cmp6.not.i.i, label %if.end.i.i, label %run_share.exit.i

if.end.i.i:
  %sub.i.i44 = sub nsw i64 %35, %38
  %cond.i.i.i45 = tail call i64 @llvm.smin.i64(i64 %sub.i.i44, i64 %34)
  %add.i.i46 = add nsw i64 %cond.i.i.i45, %38
  br i1 %cmp7.not.i.i, label %if.else.i.i, label %if.then8.i.i

if.then8.i.i:
  %sub9.i.i = sub nsw i64 %36, %add.i.i46
  %sub10.i.i = sub nsw i64 %36, %38
  tail call void %31(ptr %32, i64 %sub9.i.i, i64 %sub10.i.i, ptr %scratch) nounwind
  br label %cleanup.i.i

if.else.i.i:
  tail call void %31(ptr %32, i64 %38, i64 %add.i.i46, ptr %scratch) nounwind
  br label %cleanup.i.i

cleanup.i.i:
  %39 = load atomic i64, ptr %arrayidx.i40 monotonic, align 8
  %cmp.i.i47 = icmp slt i64 %39, %35
  br i1 %cmp.i.i47, label %while.body.i.i, label %run_share.exit.i

run_share.exit.i:
  %add.i41 = add nsw i32 %whose.015.i, 1
  %cmp4.i = icmp eq i32 %add.i41, %33
  %cond.i42 = select i1 %cmp4.i, i32 0, i32 %add.i41
  %inc.i = add nuw nsw i32 %visited.016.i, 1
  %exitcond.not.i43 = icmp eq i32 %inc.i, %33
  br i1 %exitcond.not.i43, label %run_chunks.exit, label %for.body.i39

run_chunks.exit:
  %40 = atomicrmw and ptr %gate.i, i32 2147483647 acq_rel, align 8
  %41 = load atomic i32, ptr %gate.i acquire, align 8
  %cmp.not6.i = icmp eq i32 %41, 0
  br i1 %cmp.not6.i, label %close_region.exit, label %for.body.i49

for.body.i49:
  %turns.07.i = phi i32 [ %inc.i51, %for.inc.i ], [ 0, %run_chunks.exit ]
  tail call void @relay_target_pause() nounwind
  %cmp3.i50 = icmp ugt i32 %turns.07.i, 2000
  br i1 %cmp3.i50, label %if.then.i, label %for.inc.i

if.then.i:
  %call.i52 = tail call i32 @sched_yield() nounwind
  br label %for.inc.i

for.inc.i:
  %inc.i51 = add i32 %turns.07.i, 1
  %42 = load atomic i32, ptr %gate.i acquire, align 8
  %cmp.not.i = icmp eq i32 %42, 0
  br i1 %cmp.not.i, label %close_region.exit, label %for.body.i49

close_region.exit:
  store atomic i32 0, ptr %cond.i.i release, align 8
  br label %cleanup9

cleanup9:
  ret void
}

define i64 @relay_stop_owner() nounwind {
entry:
  %0 = load atomic i32, ptr @has_owner_key acquire, align 4
  %tobool.not = icmp eq i32 %0, 0
  br i1 %tobool.not, label %cond.false, label %if.end

if.end:
  %1 = load i32, ptr @owner_key, align 4
  %call = tail call ptr @pthread_getspecific(i32 %1) nounwind
  %2 = ptrtoint ptr %call to i64
  %tobool1.not = icmp eq ptr %call, null
  br i1 %tobool1.not, label %cond.false, label %cond.end

cond.false:
  %call2 = tail call i64 @pthread_self() nounwind
  br label %cond.end

cond.end:
  %cond = phi i64 [ %call2, %cond.false ], [ %2, %if.end ]
  ret i64 %cond
}

declare ptr @pthread_getspecific(i32)

declare i64 @pthread_self()

define void @relay_stop_act_for(i64 %owner) nounwind {
entry:
  %call = tail call i32 @pthread_once(ptr nonnull @owner_once, ptr nonnull @make_owner_key) nounwind
  %0 = load atomic i32, ptr @has_owner_key acquire, align 4
  %tobool.not = icmp eq i32 %0, 0
  br i1 %tobool.not, label %if.end, label %if.then

if.then:
  %1 = load i32, ptr @owner_key, align 4
  %2 = inttoptr i64 %owner to ptr
  %call1 = tail call i32 @pthread_setspecific(i32 %1, ptr %2) nounwind
  br label %if.end

if.end:
  ret void
}

define internal void @make_owner_key() nounwind {
entry:
  %call = tail call i32 @pthread_key_create(ptr nonnull @owner_key, ptr null) nounwind
  %cmp = icmp eq i32 %call, 0
  %conv = zext i1 %cmp to i32
  store atomic i32 %conv, ptr @has_owner_key release, align 4
  ret void
}

define range(i32 -10, 1) i32 @relay_stop_now() nounwind {
entry:
  %0 = load atomic i32, ptr @relay_stop_asked acquire, align 4
  %1 = load atomic i32, ptr @has_owner_key acquire, align 4
  %tobool.not.i = icmp eq i32 %1, 0
  br i1 %tobool.not.i, label %cond.false.i, label %if.end.i

if.end.i:
  %2 = load i32, ptr @owner_key, align 4
  %call.i = tail call ptr @pthread_getspecific(i32 %2) nounwind
  %3 = ptrtoint ptr %call.i to i64
  %tobool1.not.i = icmp eq ptr %call.i, null
  br i1 %tobool1.not.i, label %cond.false.i, label %relay_stop_owner.exit

cond.false.i:
  %call2.i = tail call i64 @pthread_self() nounwind
  br label %relay_stop_owner.exit

relay_stop_owner.exit:
  %cond.i = phi i64 [ %call2.i, %cond.false.i ], [ %3, %if.end.i ]
  %and = and i32 %0, 1
  %tobool.not = icmp ne i32 %and, 0
  %4 = load i64, ptr @interrupted_thread, align 8
  %cmp = icmp eq i64 %cond.i, %4
  %or.cond = select i1 %tobool.not, i1 %cmp, i1 false
  br i1 %or.cond, label %cleanup, label %if.end

if.end:
  %cmp1 = icmp sgt i32 %0, 1
  br i1 %cmp1, label %for.body.i, label %cleanup

for.body.i:
  %indvars.iv.i = phi i64 [ %indvars.iv.next.i, %for.body.i ], [ 0, %if.end ]
  %arrayidx.i = getelementptr inbounds nuw i64, ptr @overdue, i64 %indvars.iv.i
  %5 = load atomic i64, ptr %arrayidx.i acquire, align 8
  %cmp1.i = icmp eq i64 %5, %cond.i
  %indvars.iv.next.i = add nuw nsw i64 %indvars.iv.i, 1
  %exitcond.not.i = icmp eq i64 %indvars.iv.next.i, 64
  %or.cond.i = select i1 %cmp1.i, i1 true, i1 %exitcond.not.i
  br i1 %or.cond.i, label %is_overdue.exit, label %for.body.i

is_overdue.exit:
  %6 = select i1 %cmp1.i, i32 -10, i32 0
  br label %cleanup

cleanup:
  %retval.0 = phi i32 [ -9, %relay_stop_owner.exit ], [ 0, %if.end ], [ %6, %is_overdue.exit ]
  ret i32 %retval.0
}

define range(i32 -11, 1) i32 @relay_stop_step() nounwind {
entry:
  %0 = load atomic i32, ptr @has_owner_key acquire, align 4
  %tobool.not.i = icmp eq i32 %0, 0
  br i1 %tobool.not.i, label %cond.false.i, label %if.end.i

if.end.i:
  %1 = load i32, ptr @owner_key, align 4
  %call.i = tail call ptr @pthread_getspecific(i32 %1) nounwind
  %2 = ptrtoint ptr %call.i to i64
  %tobool1.not.i = icmp eq ptr %call.i, null
  br i1 %tobool1.not.i, label %cond.false.i, label %relay_stop_owner.exit

cond.false.i:
  %call2.i = tail call i64 @pthread_self() nounwind
  br label %relay_stop_owner.exit

relay_stop_owner.exit:
  %cond.i = phi i64 [ %call2.i, %cond.false.i ], [ %2, %if.end.i ]
  br label %for.body

for.body:
  %indvars.iv = phi i64 [ 0, %relay_stop_owner.exit ], [ %indvars.iv.next, %for.inc ]
  %arrayidx = getelementptr inbounds nuw %struct.limit, ptr @limits, i64 %indvars.iv
  %3 = load atomic i64, ptr %arrayidx acquire, align 8
  %cmp2 = icmp eq i64 %3, %cond.i
  br i1 %cmp2, label %land.lhs.true, label %for.inc

land.lhs.true:
  %steps = getelementptr inbounds nuw i8, ptr %arrayidx, i64 8
  %4 = load i64, ptr %steps, align 8
  %dec = add nsw i64 %4, -1
  store i64 %dec, ptr %steps, align 8
  %cmp5 = icmp slt i64 %4, 1
  br i1 %cmp5, label %cleanup7, label %for.inc

for.inc:
  %indvars.iv.next = add nuw nsw i64 %indvars.iv, 1
  %exitcond = icmp eq i64 %indvars.iv.next, 64
  br i1 %exitcond, label %for.end, label %for.body

for.end:
  %5 = load atomic i32, ptr @relay_stop_asked acquire, align 4
  %6 = load atomic i32, ptr @has_owner_key acquire, align 4
  %tobool.not.i.i = icmp eq i32 %6, 0
  br i1 %tobool.not.i.i, label %cond.false.i.i, label %if.end.i.i

if.end.i.i:
  %7 = load i32, ptr @owner_key, align 4
  %call.i.i = tail call ptr @pthread_getspecific(i32 %7) nounwind
  %8 = ptrtoint ptr %call.i.i to i64
  %tobool1.not.i.i = icmp eq ptr %call.i.i, null
  br i1 %tobool1.not.i.i, label %cond.false.i.i, label %relay_stop_owner.exit.i

cond.false.i.i:
  %call2.i.i = tail call i64 @pthread_self() nounwind
  br label %relay_stop_owner.exit.i

relay_stop_owner.exit.i:
  %cond.i.i = phi i64 [ %call2.i.i, %cond.false.i.i ], [ %8, %if.end.i.i ]
  %and.i = and i32 %5, 1
  %tobool.not.i11 = icmp ne i32 %and.i, 0
  %9 = load i64, ptr @interrupted_thread, align 8
  %cmp.i = icmp eq i64 %cond.i.i, %9
  %or.cond.i = select i1 %tobool.not.i11, i1 %cmp.i, i1 false
  br i1 %or.cond.i, label %cleanup7, label %if.end.i12

if.end.i12:
  %cmp1.i = icmp sgt i32 %5, 1
  br i1 %cmp1.i, label %for.body.i.i, label %cleanup7

for.body.i.i:
  %indvars.iv.i.i = phi i64 [ %indvars.iv.next.i.i, %for.body.i.i ], [ 0, %if.end.i12 ]
  %arrayidx.i.i = getelementptr inbounds nuw i64, ptr @overdue, i64 %indvars.iv.i.i
  %10 = load atomic i64, ptr %arrayidx.i.i acquire, align 8
  %cmp1.i.i = icmp eq i64 %10, %cond.i.i
  %indvars.iv.next.i.i = add nuw nsw i64 %indvars.iv.i.i, 1
  %exitcond.not.i.i = icmp eq i64 %indvars.iv.next.i.i, 64
  %or.cond.i.i = select i1 %cmp1.i.i, i1 true, i1 %exitcond.not.i.i
  br i1 %or.cond.i.i, label %is_overdue.exit.i, label %for.body.i.i

is_overdue.exit.i:
  %11 = select i1 %cmp1.i.i, i32 -10, i32 0
  br label %cleanup7

cleanup7:
  %retval.1 = phi i32 [ %11, %is_overdue.exit.i ], [ -9, %relay_stop_owner.exit.i ], [ 0, %if.end.i12 ], [ -11, %land.lhs.true ]
  ret i32 %retval.1
}

define noundef i1 @relay_stop_allows(i64 %bytes) nounwind {
entry:
  %0 = load atomic i32, ptr @relay_stop_asked acquire, align 4
  %cmp = icmp slt i32 %0, 2
  br i1 %cmp, label %return, label %if.end

if.end:
  %1 = load atomic i32, ptr @has_owner_key acquire, align 4
  %tobool.not.i = icmp eq i32 %1, 0
  br i1 %tobool.not.i, label %cond.false.i, label %if.end.i

if.end.i:
  %2 = load i32, ptr @owner_key, align 4
  %call.i = tail call ptr @pthread_getspecific(i32 %2) nounwind
  %3 = ptrtoint ptr %call.i to i64
  %tobool1.not.i = icmp eq ptr %call.i, null
  br i1 %tobool1.not.i, label %cond.false.i, label %relay_stop_owner.exit

cond.false.i:
  %call2.i = tail call i64 @pthread_self() nounwind
  br label %relay_stop_owner.exit

relay_stop_owner.exit:
  %cond.i = phi i64 [ %call2.i, %cond.false.i ], [ %3, %if.end.i ]
  br label %for.body

for.body:
  %indvars.iv = phi i64 [ 0, %relay_stop_owner.exit ], [ %indvars.iv.next, %for.inc ]
  %arrayidx = getelementptr inbounds nuw %struct.limit, ptr @limits, i64 %indvars.iv
  %4 = load atomic i64, ptr %arrayidx acquire, align 8
  %cmp4 = icmp eq i64 %4, %cond.i
  br i1 %cmp4, label %land.lhs.true, label %for.inc

land.lhs.true:
  %bytes7 = getelementptr inbounds nuw i8, ptr %arrayidx, i64 16
  %5 = load i64, ptr %bytes7, align 8
  %cmp8 = icmp ugt i64 %bytes, %5
  br i1 %cmp8, label %return, label %for.inc

for.inc:
  %indvars.iv.next = add nuw nsw i64 %indvars.iv, 1
  %exitcond = icmp eq i64 %indvars.iv.next, 64
  br i1 %exitcond, label %for.body15, label %for.body

for.body15:
  %indvars.iv44 = phi i64 [ %indvars.iv.next45, %for.inc26 ], [ 0, %for.inc ]
  %arrayidx17 = getelementptr inbounds nuw %struct.limit, ptr @limits, i64 %indvars.iv44
  %6 = load atomic i64, ptr %arrayidx17 acquire, align 8
  %cmp20 = icmp eq i64 %6, %cond.i
  br i1 %cmp20, label %if.then21, label %for.inc26

if.then21:
  %bytes24 = getelementptr inbounds nuw i8, ptr %arrayidx17, i64 16
  %7 = load i64, ptr %bytes24, align 8
  %sub = sub nsw i64 %7, %bytes
  store i64 %sub, ptr %bytes24, align 8
  br label %for.inc26

for.inc26:
  %indvars.iv.next45 = add nuw nsw i64 %indvars.iv44, 1
  %exitcond47.not = icmp eq i64 %indvars.iv.next45, 64
  br i1 %exitcond47.not, label %return, label %for.body15

return:
  %retval.2 = phi i1 [ true, %entry ], [ true, %for.inc26 ], [ false, %land.lhs.true ]
  ret i1 %retval.2
}

define range(i64 0, 65) i64 @relay_stop_limit(i64 %steps, i64 %bytes) nounwind {
entry:
  br label %for.body

for.body:
  %i.023 = phi i64 [ 0, %entry ], [ %inc, %for.inc ]
  %arrayidx = getelementptr inbounds nuw %struct.limit, ptr @limits, i64 %i.023
  %0 = cmpxchg ptr %arrayidx, i64 0, i64 1 acq_rel acquire, align 8
  %1 = extractvalue { i64, i1 } %0, 1
  br i1 %1, label %if.end, label %for.inc

if.end:
  %steps2 = getelementptr inbounds nuw i8, ptr %arrayidx, i64 8
  store i64 %steps, ptr %steps2, align 8
  %bytes4 = getelementptr inbounds nuw i8, ptr %arrayidx, i64 16
  store i64 %bytes, ptr %bytes4, align 8
  %2 = load atomic i32, ptr @has_owner_key acquire, align 4
  %tobool.not.i = icmp eq i32 %2, 0
  br i1 %tobool.not.i, label %cond.false.i, label %if.end.i

if.end.i:
  %3 = load i32, ptr @owner_key, align 4
  %call.i = tail call ptr @pthread_getspecific(i32 %3) nounwind
  %4 = ptrtoint ptr %call.i to i64
  %tobool1.not.i = icmp eq ptr %call.i, null
  br i1 %tobool1.not.i, label %cond.false.i, label %cleanup9

cond.false.i:
  %call2.i = tail call i64 @pthread_self() nounwind
  br label %cleanup9

for.inc:
  %inc = add nuw nsw i64 %i.023, 1
  %exitcond.not = icmp eq i64 %inc, 64
  br i1 %exitcond.not, label %.loopexit, label %for.body

cleanup9:
  %cond.i = phi i64 [ %call2.i, %cond.false.i ], [ %4, %if.end.i ]
  store atomic i64 %cond.i, ptr %arrayidx release, align 8
  %5 = atomicrmw add ptr @relay_stop_asked, i32 2 acq_rel, align 4
  %add = add nuw nsw i64 %i.023, 1
  br label %.loopexit

.loopexit:
  %6 = phi i64 [ %add, %cleanup9 ], [ 0, %for.inc ]
  ret i64 %6
}

define void @relay_stop_unlimit(i64 %place) nounwind {
entry:
  %0 = getelementptr %struct.limit, ptr @limits, i64 %place
  %arrayidx = getelementptr i8, ptr %0, i64 -24
  store atomic i64 0, ptr %arrayidx release, align 8
  %1 = atomicrmw sub ptr @relay_stop_asked, i32 2 acq_rel, align 4
  ret void
}

define void @relay_stop_begin() nounwind {
entry:
  %0 = load atomic i32, ptr @relay_stop_asked acquire, align 4
  %and = and i32 %0, 1
  %tobool.not = icmp eq i32 %and, 0
  br i1 %tobool.not, label %if.end, label %land.lhs.true

land.lhs.true:
  %call = tail call i64 @pthread_self() nounwind
  %1 = load i64, ptr @interrupted_thread, align 8
  %cmp = icmp eq i64 %call, %1
  br i1 %cmp, label %if.then, label %if.end

if.then:
  %2 = atomicrmw and ptr @relay_stop_asked, i32 -2 acq_rel, align 4
  br label %if.end

if.end:
  ret void
}

define void @relay_stop_on_interrupt(i64 %thread) nounwind {
entry:
  %now = alloca %struct.signal_action, align 8
  call void @llvm.lifetime.start.p0(ptr nonnull %now) nounwind
  %call = call i32 @sigaction(i32 2, ptr null, ptr nonnull %now) nounwind
  %tobool = icmp ne i32 %call, 0
  %0 = load ptr, ptr %now, align 8
  %cmp = icmp ult ptr %0, inttoptr (i64 2 to ptr)
  %or.cond = select i1 %tobool, i1 true, i1 %cmp
  br i1 %or.cond, label %cleanup, label %if.end

if.end:
  %1 = load i64, ptr @interrupted_thread, align 8
  %tobool1.not = icmp eq i64 %1, 0
  %2 = load ptr, ptr @before_interrupt, align 8
  %cmp3.not = icmp eq ptr %0, %2
  %or.cond9 = select i1 %tobool1.not, i1 true, i1 %cmp3.not
  br i1 %or.cond9, label %if.end5, label %cleanup

if.end5:
  store i64 %thread, ptr @interrupted_thread, align 8
  call void @llvm.memcpy.p0.p0.i64(ptr noundef nonnull align 8 dereferenceable(152) @before_interrupt, ptr noundef nonnull align 8 dereferenceable(152) %now, i64 152, i1 false)
  store ptr @on_interrupt, ptr %now, align 8
  %call7 = call i32 @sigaction(i32 2, ptr nonnull %now, ptr null) nounwind
  br label %cleanup

cleanup:
  call void @llvm.lifetime.end.p0(ptr nonnull %now) nounwind
  ret void
}

declare i32 @sigaction(i32, ptr, ptr)

define internal void @on_interrupt(i32 %signal, ptr %told, ptr %context) nounwind {
entry:
  %0 = atomicrmw or ptr @relay_stop_asked, i32 1 acq_rel, align 4
  %1 = load ptr, ptr @before_interrupt, align 8
  tail call void %1(i32 %signal, ptr %told, ptr %context) nounwind
  ret void
}

define void @relay_stop_thread(i64 %thread) nounwind {
entry:
  br label %for.body

for.cond:
  %indvars.iv.next = add nuw nsw i64 %indvars.iv, 1
  %exitcond.not = icmp eq i64 %indvars.iv.next, 64
  br i1 %exitcond.not, label %cleanup2, label %for.body

for.body:
  %indvars.iv = phi i64 [ 0, %entry ], [ %indvars.iv.next, %for.cond ]
  %arrayidx = getelementptr inbounds nuw i64, ptr @overdue, i64 %indvars.iv
  %0 = cmpxchg ptr %arrayidx, i64 0, i64 %thread acq_rel acquire, align 8
  %1 = extractvalue { i64, i1 } %0, 1
  br i1 %1, label %if.end, label %for.cond

if.end:
  %2 = atomicrmw add ptr @relay_stop_asked, i32 2 acq_rel, align 4
  br label %cleanup2

cleanup2:
  ret void
}

define void @relay_stop_forget(i64 %thread) nounwind {
entry:
  br label %for.body

for.cond.cleanup:
  ret void

for.body:
  %indvars.iv = phi i64 [ 0, %entry ], [ %indvars.iv.next, %if.end ]
  %arrayidx = getelementptr inbounds nuw i64, ptr @overdue, i64 %indvars.iv
  %0 = cmpxchg ptr %arrayidx, i64 %thread, i64 0 acq_rel acquire, align 8
  %1 = extractvalue { i64, i1 } %0, 1
  br i1 %1, label %if.then, label %if.end

if.then:
  %2 = atomicrmw sub ptr @relay_stop_asked, i32 2 acq_rel, align 4
  br label %if.end

if.end:
  %indvars.iv.next = add nuw nsw i64 %indvars.iv, 1
  %exitcond.not = icmp eq i64 %indvars.iv.next, 64
  br i1 %exitcond.not, label %for.cond.cleanup, label %for.body
}

declare i32 @posix_memalign(ptr, i64, i64)

define internal void @handle(i32 %signal, ptr %told, ptr %context) nounwind {
entry:
  %address1 = getelementptr inbounds nuw i8, ptr %told, i64 16
  %0 = load i64, ptr %address1, align 8
  br label %for.body.i

for.body.i:
  %i.07.i = phi i64 [ 0, %entry ], [ %inc.i, %for.inc.i ]
  %arrayidx.i = getelementptr inbounds nuw %struct.range, ptr @ranges, i64 %i.07.i
  %1 = load atomic i64, ptr %arrayidx.i acquire, align 8
  %cmp.i.i = icmp ugt i64 %1, 1
  br i1 %cmp.i.i, label %contains.exit.i, label %for.inc.i

contains.exit.i:
  %sub.i.i = sub i64 %0, %1
  %bytes.i.i = getelementptr inbounds nuw i8, ptr %arrayidx.i, i64 8
  %2 = load i64, ptr %bytes.i.i, align 8
  %cmp2.i.i = icmp ult i64 %sub.i.i, %2
  br i1 %cmp2.i.i, label %if.then, label %for.inc.i

for.inc.i:
  %inc.i = add nuw nsw i64 %i.07.i, 1
  %exitcond.not.i = icmp eq i64 %inc.i, 1024
  br i1 %exitcond.not.i, label %if.then4, label %for.body.i

if.then:
  %lost = getelementptr inbounds nuw i8, ptr %arrayidx.i, i64 16
  store atomic i64 1, ptr %lost release, align 8
  %call.i = tail call i32 @getpagesize() nounwind
  %conv.i = sext i32 %call.i to i64
  %sub.i = sub nsw i64 0, %conv.i
  %and.i = and i64 %0, %sub.i
  %3 = inttoptr i64 %and.i to ptr
  %call1.i = tail call ptr @mmap(ptr %3, i64 %conv.i, i32 1, i32 50, i32 -1, i64 0) nounwind
  %cmp.i.not = icmp eq ptr %call1.i, inttoptr (i64 -1 to ptr)
  br i1 %cmp.i.not, label %if.then4, label %if.end5

if.then4:
  %4 = load ptr, ptr @before, align 8
  %cmp.i10 = icmp ult ptr %4, inttoptr (i64 2 to ptr)
  br i1 %cmp.i10, label %if.then.i, label %if.else.i

if.then.i:
  %call.i11 = tail call i32 @sigaction(i32 7, ptr nonnull @before, ptr null) nounwind
  br label %if.end5

if.else.i:
  tail call void %4(i32 %signal, ptr %told, ptr %context) nounwind
  br label %if.end5

if.end5:
  ret void
}

declare i32 @getpagesize()

declare ptr @mmap(ptr, i64, i32, i32, i32, i64)

declare i32 @pthread_key_create(ptr, ptr)

define internal fastcc ptr @make_pool() noinline nounwind {
entry:
  %call.i = tail call ptr @mmap(ptr null, i64 65792, i32 3, i32 34, i32 -1, i64 0) nounwind
  %cmp.i = icmp eq ptr %call.i, inttoptr (i64 -1 to ptr)
  br i1 %cmp.i, label %cleanup, label %if.end.i

if.end.i:
  %call1.i = tail call i32 @madvise(ptr %call.i, i64 65792, i32 18) nounwind
  %cmp2.i = icmp eq i32 %call1.i, 0
  br i1 %cmp2.i, label %map_pool.exit, label %cleanup.sink.split

map_pool.exit:
  %cmp = icmp eq ptr %call.i, null
  br i1 %cmp, label %cleanup, label %lor.lhs.false

lor.lhs.false:
  %0 = ptrtoint ptr %call.i to i64
  %1 = cmpxchg ptr @pool_pages, i64 0, i64 %0 acq_rel acquire, align 8
  %2 = extractvalue { i64, i1 } %1, 1
  br i1 %2, label %cleanup, label %if.end

if.end:
  %3 = extractvalue { i64, i1 } %1, 0
  %4 = inttoptr i64 %3 to ptr
  br label %cleanup.sink.split

cleanup.sink.split:
  %retval.0.ph = phi ptr [ %4, %if.end ], [ null, %if.end.i ]
  %call5.i = tail call i32 @munmap(ptr %call.i, i64 65792) nounwind
  br label %cleanup

cleanup:
  %retval.0 = phi ptr [ null, %entry ], [ %call.i, %lor.lhs.false ], [ null, %map_pool.exit ], [ %retval.0.ph, %cleanup.sink.split ]
  ret ptr %retval.0
}

declare i32 @munmap(ptr, i64)

declare i32 @madvise(ptr, i64, i32)

define internal fastcc range(i32 1, 0) i32 @count_processors() noinline nounwind {
entry:
  %usable = alloca %struct.set, align 8
  call void @llvm.lifetime.start.p0(ptr nonnull %usable) nounwind
  call void @llvm.memset.p0.i64(ptr noundef nonnull align 8 dereferenceable(128) %usable, i8 0, i64 128, i1 false)
  %call = call i32 @sched_getaffinity(i32 0, i64 128, ptr nonnull %usable) nounwind
  br label %for.body

for.cond.cleanup:
  %cond = call i32 @llvm.umax.i32(i32 %add, i32 1)
  call void @llvm.lifetime.end.p0(ptr nonnull %usable) nounwind
  ret i32 %cond

for.body:
  %indvars.iv = phi i64 [ 0, %entry ], [ %indvars.iv.next, %for.body ]
  %count.06 = phi i32 [ 0, %entry ], [ %add, %for.body ]
  %arrayidx = getelementptr inbounds nuw i64, ptr %usable, i64 %indvars.iv
  %0 = load i64, ptr %arrayidx, align 8
  %1 = call range(i64 0, 65) i64 @llvm.ctpop.i64(i64 %0)
  %cast = trunc nuw nsw i64 %1 to i32
  %add = add nuw nsw i32 %count.06, %cast
  %indvars.iv.next = add nuw nsw i64 %indvars.iv, 1
  %exitcond.not = icmp eq i64 %indvars.iv.next, 16
  br i1 %exitcond.not, label %for.cond.cleanup, label %for.body
}

declare i32 @sched_getaffinity(i32, i64, ptr)

define internal fastcc void @start_workers(ptr captures(none) %pool, i32 range(i32 1, -2147483648) %wanted) noinline nounwind {
entry:
  %thread.i = alloca i64, align 8
  %all = alloca %struct.set, align 8
  %before = alloca %struct.set, align 8
  call void @llvm.lifetime.start.p0(ptr nonnull %all) nounwind
  call void @llvm.lifetime.start.p0(ptr nonnull %before) nounwind
  %0 = getelementptr inbounds nuw i8, ptr %all, i64 8
  call void @llvm.memset.p0.i64(ptr noundef nonnull align 8 dereferenceable(120) %0, i8 -1, i64 120, i1 false)
  store i64 -1241, ptr %all, align 8
  %call = call i32 @pthread_sigmask(i32 2, ptr nonnull %all, ptr nonnull %before) nounwind
  %workers = getelementptr inbounds nuw i8, ptr %pool, i64 4
  %1 = load i32, ptr %workers, align 4
  %cmp14 = icmp slt i32 %1, %wanted
  br i1 %cmp14, label %land.rhs, label %while.end

land.rhs:
  %2 = phi i32 [ %inc, %while.body ], [ %1, %entry ]
  call void @llvm.lifetime.start.p0(ptr nonnull %thread.i) nounwind
  %conv.i = sext i32 %2 to i64
  %3 = inttoptr i64 %conv.i to ptr
  %call.i = call i32 @pthread_create(ptr nonnull %thread.i, ptr null, ptr nonnull @work, ptr %3) nounwind
  %cmp.not.i = icmp eq i32 %call.i, 0
  br i1 %cmp.not.i, label %while.body, label %start_worker.exit

start_worker.exit:
  call void @llvm.lifetime.end.p0(ptr nonnull %thread.i) nounwind
  br label %while.end

while.body:
  %4 = load i64, ptr %thread.i, align 8
  %5 = getelementptr %struct.share, ptr %pool, i64 %conv.i
  %thread2.i = getelementptr i8, ptr %5, i64 336
  store i64 %4, ptr %thread2.i, align 8
  %call3.i = call i32 @pthread_detach(i64 %4) nounwind
  call void @llvm.lifetime.end.p0(ptr nonnull %thread.i) nounwind
  %6 = load i32, ptr %workers, align 4
  %inc = add nsw i32 %6, 1
  store i32 %inc, ptr %workers, align 4
  %cmp = icmp slt i32 %inc, %wanted
  br i1 %cmp, label %land.rhs, label %while.end

while.end:
  %call4 = call i32 @pthread_sigmask(i32 2, ptr nonnull %before, ptr null) nounwind
  %7 = load i32, ptr %workers, align 4
  %call6 = call i32 @sched_getcpu() nounwind
  call fastcc void @place_off(ptr nonnull %pool, i32 %7, i32 %call6)
  call void @llvm.lifetime.end.p0(ptr nonnull %before) nounwind
  call void @llvm.lifetime.end.p0(ptr nonnull %all) nounwind
  ret void
}

declare i32 @pthread_sigmask(i32, ptr, ptr)

define internal fastcc void @place_off(ptr captures(none) %pool, i32 %workers, i32 %processor) noinline nounwind {
entry:
  %alone.i = alloca %struct.set, align 8
  %others = alloca %struct.set, align 8
  call void @llvm.lifetime.start.p0(ptr nonnull %others) nounwind
  call void @llvm.memset.p0.i64(ptr noundef nonnull align 8 dereferenceable(128) %others, i8 0, i64 128, i1 false)
  %cmp = icmp ugt i32 %processor, 1023
  br i1 %cmp, label %cleanup, label %lor.lhs.false

lor.lhs.false:
  %call = call i32 @sched_getaffinity(i32 0, i64 128, ptr nonnull %others) nounwind
  %cmp1.not = icmp eq i32 %call, 0
  br i1 %cmp1.not, label %if.end, label %cleanup

if.end:
  %kept_free = getelementptr inbounds nuw i8, ptr %pool, i64 224
  store i32 %processor, ptr %kept_free, align 8
  %rem = and i32 %processor, 63
  %sh_prom = zext nneg i32 %rem to i64
  %shl = shl nuw i64 1, %sh_prom
  %not = xor i64 %shl, -1
  %div11 = lshr i32 %processor, 6
  %idxprom = zext nneg i32 %div11 to i64
  %arrayidx = getelementptr inbounds nuw i64, ptr %others, i64 %idxprom
  %0 = load i64, ptr %arrayidx, align 8
  %and = and i64 %0, %not
  store i64 %and, ptr %arrayidx, align 8
  %1 = load atomic i32, ptr @relay_target_pinning monotonic, align 4
  %cmp2.not = icmp eq i32 %1, 0
  br i1 %cmp2.not, label %if.else, label %if.then3

if.then3:
  call void @llvm.lifetime.start.p0(ptr nonnull %alone.i) nounwind
  %cmp.not11.i = icmp slt i32 %workers, 1
  br i1 %cmp.not11.i, label %place_apart.exit, label %for.body.preheader.i

for.body.preheader.i:
  %2 = add nuw i32 %workers, 1
  %wide.trip.count.i = zext i32 %2 to i64
  br label %for.body.i

for.body.i:
  %indvars.iv.i = phi i64 [ 1, %for.body.preheader.i ], [ %indvars.iv.next.i, %if.end.i ]
  %last.012.i = phi i32 [ -1, %for.body.preheader.i ], [ %i.0.i.i, %if.end.i ]
  %smax.i.i = call i32 @llvm.smax.i32(i32 range(i32 1025, 1024) %last.012.i, i32 1023)
  br label %for.cond.i.i

for.cond.i.i:
  %i.0.in.i.i = phi i32 [ %last.012.i, %for.body.i ], [ %i.0.i.i, %for.body.i.i ]
  %exitcond.not.i.i = icmp eq i32 %i.0.in.i.i, %smax.i.i
  br i1 %exitcond.not.i.i, label %place_apart.exit, label %for.body.i.i

for.body.i.i:
  %i.0.i.i = add nsw i32 %i.0.in.i.i, 1
  %rem.i.i = srem i32 %i.0.i.i, 64
  %sh_prom.i.i = zext nneg i32 %rem.i.i to i64
  %shl.i.i = shl nuw i64 1, %sh_prom.i.i
  %div.i.i = sdiv i32 %i.0.i.i, 64
  %idxprom.i.i = sext i32 %div.i.i to i64
  %arrayidx.i.i = getelementptr inbounds i64, ptr %others, i64 %idxprom.i.i
  %3 = load i64, ptr %arrayidx.i.i, align 8
  %and.i.i = and i64 %3, %shl.i.i
  %tobool.not.i.i = icmp eq i64 %and.i.i, 0
  br i1 %tobool.not.i.i, label %for.cond.i.i, label %next_alone.exit.i

next_alone.exit.i:
  call void @llvm.memset.p0.i64(ptr noundef nonnull align 8 dereferenceable(128) %alone.i, i8 0, i64 128, i1 false)
  %arrayidx5.i.i = getelementptr inbounds i64, ptr %alone.i, i64 %idxprom.i.i
  store i64 %shl.i.i, ptr %arrayidx5.i.i, align 8
  %cmp1.i = icmp eq i32 %i.0.i.i, 1024
  br i1 %cmp1.i, label %place_apart.exit, label %if.end.i

if.end.i:
  %arrayidx.i = getelementptr inbounds nuw %struct.share, ptr %pool, i64 %indvars.iv.i
  %thread.i = getelementptr inbounds nuw i8, ptr %arrayidx.i, i64 272
  %4 = load i64, ptr %thread.i, align 8
  %call2.i = call i32 @pthread_setaffinity_np(i64 %4, i64 128, ptr nonnull %alone.i) nounwind
  %indvars.iv.next.i = add nuw nsw i64 %indvars.iv.i, 1
  %exitcond.not.i = icmp eq i64 %indvars.iv.next.i, %wide.trip.count.i
  br i1 %exitcond.not.i, label %place_apart.exit, label %for.body.i

place_apart.exit:
  call void @llvm.lifetime.end.p0(ptr nonnull %alone.i) nounwind
  br label %cleanup

if.else:
  %cmp.not3.i = icmp slt i32 %workers, 1
  br i1 %cmp.not3.i, label %cleanup, label %for.body.preheader.i12

for.body.preheader.i12:
  %5 = add nuw i32 %workers, 1
  %wide.trip.count.i13 = zext i32 %5 to i64
  br label %for.body.i14

for.body.i14:
  %indvars.iv.i15 = phi i64 [ 1, %for.body.preheader.i12 ], [ %indvars.iv.next.i18, %for.body.i14 ]
  %arrayidx.i16 = getelementptr inbounds nuw %struct.share, ptr %pool, i64 %indvars.iv.i15
  %thread.i17 = getelementptr inbounds nuw i8, ptr %arrayidx.i16, i64 272
  %6 = load i64, ptr %thread.i17, align 8
  %call.i = call i32 @pthread_setaffinity_np(i64 %6, i64 128, ptr nonnull %others) nounwind
  %indvars.iv.next.i18 = add nuw nsw i64 %indvars.iv.i15, 1
  %exitcond.not.i19 = icmp eq i64 %indvars.iv.next.i18, %wide.trip.count.i13
  br i1 %exitcond.not.i19, label %cleanup, label %for.body.i14

cleanup:
  call void @llvm.lifetime.end.p0(ptr nonnull %others) nounwind
  ret void
}

declare i32 @sched_getcpu()

declare i32 @pthread_create(ptr, ptr, ptr, ptr)

define internal noalias noundef nonnull ptr @work(ptr %argument) noreturn nounwind {
entry:
  %0 = ptrtoint ptr %argument to i64
  %conv = trunc i64 %0 to i32
  %1 = load atomic i64, ptr @pool_pages acquire, align 8
  %2 = inttoptr i64 %1 to ptr
  %epoch.i = getelementptr inbounds nuw i8, ptr %2, i64 64
  %3 = load i32, ptr @relay_target_spins_before_sleep, align 4
  %cmp15.not.i = icmp eq i32 %3, 0
  %sleepers.i.i = getelementptr inbounds nuw i8, ptr %2, i64 68
  %4 = load i64, ptr @relay_target_futex_number, align 8
  %wanted = getelementptr inbounds nuw i8, ptr %2, i64 216
  %gate.i = getelementptr inbounds nuw i8, ptr %2, i64 128
  %owner = getelementptr inbounds nuw i8, ptr %2, i64 232
  %add = add nsw i32 %conv, 1
  %idxprom = sext i32 %add to i64
  %arrayidx = getelementptr %struct.share, ptr %2, i64 %idxprom
  %scratch = getelementptr i8, ptr %arrayidx, i64 288
  %body1.i = getelementptr inbounds nuw i8, ptr %2, i64 192
  %context2.i = getelementptr inbounds nuw i8, ptr %2, i64 200
  %team3.i = getelementptr inbounds nuw i8, ptr %2, i64 220
  %shares.i = getelementptr inbounds nuw i8, ptr %2, i64 256
  %chunk1.i.i = getelementptr inbounds nuw i8, ptr %2, i64 208
  br label %for.cond

for.cond:
  %seen.0 = phi i32 [ 0, %entry ], [ %5, %for.cond.backedge ]
  br label %for.cond.i

for.cond.i:
  br i1 %cmp15.not.i, label %for.end.i, label %for.body.i

for.body.i:
  %turns.016.i = phi i32 [ %inc.i, %for.inc.i ], [ 0, %for.cond.i ]
  %5 = load atomic i32, ptr %epoch.i acquire, align 8
  %cmp2.not.i = icmp eq i32 %5, %seen.0
  br i1 %cmp2.not.i, label %for.inc.i, label %wait_for_region.exit

for.inc.i:
  tail call void @relay_target_pause() nounwind
  %inc.i = add nuw i32 %turns.016.i, 1
  %exitcond.not.i = icmp eq i32 %inc.i, %3
  br i1 %exitcond.not.i, label %for.end.i, label %for.body.i

for.end.i:
  %6 = atomicrmw add ptr %sleepers.i.i, i32 1 seq_cst, align 4
  %call.i.i = tail call i64 (i64, ...) @syscall(i64 %4, ptr nonnull %epoch.i, i32 128, i32 %seen.0, ptr null, ptr null, i32 0) nounwind
  %7 = atomicrmw sub ptr %sleepers.i.i, i32 1 seq_cst, align 4
  br label %for.cond.i

wait_for_region.exit:
  %8 = load atomic i32, ptr %wanted monotonic, align 8
  %cmp.not = icmp sgt i32 %8, %conv
  br i1 %cmp.not, label %lor.lhs.false, label %for.cond.backedge

for.cond.backedge:
  br label %for.cond

lor.lhs.false:
  %9 = load atomic i32, ptr %gate.i monotonic, align 8
  br label %while.cond.i

while.cond.i:
  %state.0.i = phi i32 [ %9, %lor.lhs.false ], [ %12, %while.body.i ]
  %tobool.not.i = icmp slt i32 %state.0.i, 0
  br i1 %tobool.not.i, label %while.body.i, label %for.cond.backedge

while.body.i:
  %add.i = add nsw i32 %state.0.i, 1
  %10 = cmpxchg ptr %gate.i, i32 %state.0.i, i32 %add.i acquire monotonic, align 8
  %11 = extractvalue { i32, i1 } %10, 1
  %12 = extractvalue { i32, i1 } %10, 0
  br i1 %11, label %if.end, label %while.cond.i

if.end:
  %13 = load atomic i32, ptr @has_owner_key acquire, align 4
  %tobool.not.i20 = icmp eq i32 %13, 0
  br i1 %tobool.not.i20, label %cond.false.i, label %if.end.i

if.end.i:
  %14 = load i32, ptr @owner_key, align 4
  %call.i = tail call ptr @pthread_getspecific(i32 %14) nounwind
  %15 = ptrtoint ptr %call.i to i64
  %tobool1.not.i = icmp eq ptr %call.i, null
  br i1 %tobool1.not.i, label %cond.false.i, label %relay_stop_owner.exit

cond.false.i:
  %call2.i = tail call i64 @pthread_self() nounwind
  br label %relay_stop_owner.exit

relay_stop_owner.exit:
  %cond.i = phi i64 [ %call2.i, %cond.false.i ], [ %15, %if.end.i ]
  %16 = load i64, ptr %owner, align 8
  %cmp5.not = icmp eq i64 %cond.i, %16
  br i1 %cmp5.not, label %if.end9, label %if.then7

if.then7:
  %call.i21 = tail call i32 @pthread_once(ptr nonnull @owner_once, ptr nonnull @make_owner_key) nounwind
  %17 = load atomic i32, ptr @has_owner_key acquire, align 4
  %tobool.not.i22 = icmp eq i32 %17, 0
  br i1 %tobool.not.i22, label %if.end9, label %if.then.i

if.then.i:
  %18 = load i32, ptr @owner_key, align 4
  %19 = inttoptr i64 %16 to ptr
  %call1.i = tail call i32 @pthread_setspecific(i32 %18, ptr %19) nounwind
  br label %if.end9

if.end9:
  %20 = load ptr, ptr %scratch, align 8
  %21 = load ptr, ptr %body1.i, align 8
  %22 = load ptr, ptr %context2.i, align 8
  %23 = load i32, ptr %team3.i, align 4
  %cmp14.i = icmp sgt i32 %23, 0
  br i1 %cmp14.i, label %for.body.i24, label %run_chunks.exit

for.body.i24:
  %visited.016.i = phi i32 [ %inc.i27, %run_share.exit.i ], [ 0, %if.end9 ]
  %whose.015.i = phi i32 [ %cond.i26, %run_share.exit.i ], [ %add, %if.end9 ]
  %idxprom.i = sext i32 %whose.015.i to i64
  %arrayidx.i = getelementptr inbounds %struct.share, ptr %shares.i, i64 %idxprom.i
  %24 = load i64, ptr %chunk1.i.i, align 8
  %end2.i.i = getelementptr inbounds nuw i8, ptr %arrayidx.i, i64 8
  %25 = load i64, ptr %end2.i.i, align 8
  %mirror3.i.i = getelementptr inbounds nuw i8, ptr %arrayidx.i, i64 24
  %26 = load i64, ptr %mirror3.i.i, align 8
  %27 = load atomic i64, ptr %arrayidx.i monotonic, align 8
  %cmp35.i.i = icmp slt i64 %27, %25
  br i1 %cmp35.i.i, label %while.body.lr.ph.i.i, label %run_share.exit.i

while.body.lr.ph.i.i:
  %cmp7.not.i.i = icmp eq i64 %26, 0
  br label %while.body.i.i

while.body.i.i:
  %28 = atomicrmw add ptr %arrayidx.i, i64 %24 monotonic, align 8
  %cmp6.not.i.i = icmp slt i64 %28, %25
  br i1 %cmp6.not.i.i, label %if.end.i.i, label %run_share.exit.i

if.end.i.i:
  %sub.i.i = sub nsw i64 %25, %28
  %cond.i.i.i = tail call i64 @llvm.smin.i64(i64 %sub.i.i, i64 %24)
  %add.i.i = add nsw i64 %cond.i.i.i, %28
  br i1 %cmp7.not.i.i, label %if.else.i.i, label %if.then8.i.i

if.then8.i.i:
  %sub9.i.i = sub nsw i64 %26, %add.i.i
  %sub10.i.i = sub nsw i64 %26, %28
  tail call void %21(ptr %22, i64 %sub9.i.i, i64 %sub10.i.i, ptr %20) nounwind
  br label %cleanup.i.i

if.else.i.i:
  tail call void %21(ptr %22, i64 %28, i64 %add.i.i, ptr %20) nounwind
  br label %cleanup.i.i

cleanup.i.i:
  %29 = load atomic i64, ptr %arrayidx.i monotonic, align 8
  %cmp.i.i = icmp slt i64 %29, %25
  br i1 %cmp.i.i, label %while.body.i.i, label %run_share.exit.i

run_share.exit.i:
  %add.i25 = add nsw i32 %whose.015.i, 1
  %cmp4.i = icmp eq i32 %add.i25, %23
  %cond.i26 = select i1 %cmp4.i, i32 0, i32 %add.i25
  %inc.i27 = add nuw nsw i32 %visited.016.i, 1
  %exitcond.not.i28 = icmp eq i32 %inc.i27, %23
  br i1 %exitcond.not.i28, label %run_chunks.exit, label %for.body.i24

run_chunks.exit:
  %30 = atomicrmw sub ptr %gate.i, i32 1 release, align 8
  br label %for.cond.backedge
}

declare i32 @pthread_detach(i64)

declare i64 @syscall(i64, ...)

declare i32 @pthread_setaffinity_np(i64, i64, ptr)

declare i32 @sched_yield()
