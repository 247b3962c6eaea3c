; Made of library.c by `python -m relay.targets.cpu.support.generate`.

%struct.builder = type { ptr, ptr, ptr }
%struct.planned_field = type { i64, ptr }
%struct.known_class = type { ptr, ptr }
%struct.met = type { ptr, i64, ptr, i64 }

@relay_stop_asked = global i32 0, align 4
@kept_bytes = internal global [64 x i64] zeroinitializer, align 16
@kept_blocks = internal global [64 x ptr] zeroinitializer, align 16
@replaced = internal global i64 0, align 8

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

define noalias noundef ptr @relay_watch(i64 %start, i64 %bytes) nounwind {
entry:
  ret ptr null
}

define void @relay_unwatch(ptr readnone captures(none) %lost) nounwind {
entry:
  ret void
}

define noundef i32 @relay_num_threads() nounwind {
entry:
  ret i32 1
}

define void @relay_set_num_threads(i32 %count) nounwind {
entry:
  ret void
}

define void @relay_limit_threads(i32 %count) nounwind {
entry:
  ret void
}

define void @relay_set_pinning(i32 %on) nounwind {
entry:
  ret void
}

define void @relay_parallel_for(ptr readonly captures(none) %body, ptr %context, i64 %count, i64 %grain, i64 %backwards, ptr %scratch, i64 %scratch_bytes, i32 %most) nounwind {
entry:
  %cmp = icmp sgt i64 %count, 0
  br i1 %cmp, label %if.then, label %if.end

if.then:
  tail call void %body(ptr %context, i64 0, i64 %count, ptr %scratch) nounwind
  br label %if.end

if.end:
  ret void
}

define noundef i32 @relay_stop_now() nounwind {
entry:
  ret i32 0
}

define noundef i32 @relay_stop_step() nounwind {
entry:
  ret i32 0
}

define noundef i1 @relay_stop_allows(i64 %bytes) nounwind {
entry:
  ret i1 true
}

define noundef i64 @relay_stop_limit(i64 %steps, i64 %bytes) nounwind {
entry:
  ret i64 0
}

define void @relay_stop_unlimit(i64 %place) nounwind {
entry:
  ret void
}

define void @relay_stop_begin() nounwind {
entry:
  ret void
}

define noundef i64 @relay_stop_owner() nounwind {
entry:
  ret i64 0
}

define void @relay_stop_act_for(i64 %owner) nounwind {
entry:
  ret void
}

define void @relay_stop_on_interrupt(i64 %thread) nounwind {
entry:
  ret void
}

define void @relay_stop_thread(i64 %thread) nounwind {
entry:
  ret void
}

define void @relay_stop_forget(i64 %thread) nounwind {
entry:
  ret void
}

declare i32 @posix_memalign(ptr, i64, i64)
