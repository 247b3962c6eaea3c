; Made of heap/values.c by `python -m relay.targets.cpu.support.generate`.

define ptr @relay_arena_new() nounwind {
entry:
  %call = tail call ptr @relay_alloc(i64 64) nounwind
  %cmp.not = icmp eq ptr %call, null
  br i1 %cmp.not, label %if.end, label %if.then

if.then:
  store ptr null, ptr %call, align 8
  br label %if.end

if.end:
  ret ptr %call
}

declare ptr @relay_alloc(i64)

define void @relay_arena_free(ptr %arena) nounwind {
entry:
  %cmp.not4 = icmp eq ptr %arena, null
  br i1 %cmp.not4, label %while.end, label %while.body

while.body:
  %arena.addr.05 = phi ptr [ %0, %while.body ], [ %arena, %entry ]
  %0 = load ptr, ptr %arena.addr.05, align 8
  tail call void @relay_free(ptr nonnull %arena.addr.05) nounwind
  %cmp.not = icmp eq ptr %0, null
  br i1 %cmp.not, label %while.end, label %while.body

while.end:
  ret void
}

declare void @relay_free(ptr)

define internal ptr @relay_arena_block(ptr captures(none) %arena, i64 %bytes) nounwind {
entry:
  %add = add i64 %bytes, 64
  %call = tail call ptr @relay_alloc(i64 %add) nounwind
  %cmp = icmp eq ptr %call, null
  br i1 %cmp, label %cleanup, label %if.end

if.end:
  %0 = load ptr, ptr %arena, align 8
  store ptr %0, ptr %call, align 8
  store ptr %call, ptr %arena, align 8
  %memory = getelementptr inbounds nuw i8, ptr %call, i64 64
  br label %cleanup

cleanup:
  %retval.0 = phi ptr [ %memory, %if.end ], [ null, %entry ]
  ret ptr %retval.0
}

define internal void @relay_arena_take(ptr captures(none) %arena, ptr readonly captures(none) %heap) nounwind {
entry:
  %chunks = getelementptr inbounds nuw i8, ptr %heap, i64 32
  %0 = load ptr, ptr %chunks, align 8
  %cmp = icmp eq ptr %0, null
  br i1 %cmp, label %cleanup, label %while.cond

while.cond:
  %last.0 = phi ptr [ %1, %while.cond ], [ %0, %entry ]
  %1 = load ptr, ptr %last.0, align 8
  %cmp1.not = icmp eq ptr %1, null
  br i1 %cmp1.not, label %while.end, label %while.cond

while.end:
  %2 = load ptr, ptr %arena, align 8
  store ptr %2, ptr %last.0, align 8
  %3 = load ptr, ptr %chunks, align 8
  store ptr %3, ptr %arena, align 8
  br label %cleanup

cleanup:
  ret void
}

define internal void @relay_value_keep(i64 %value) nounwind {
entry:
  %and.i = and i64 %value, 1
  %tobool.i.not = icmp eq i64 %and.i, 0
  br i1 %tobool.i.not, label %if.then, label %if.end

if.then:
  %0 = inttoptr i64 %value to ptr
  store i64 1152921504606846976, ptr %0, align 8
  br label %if.end

if.end:
  ret void
}

define noundef ptr @relay_tensor(ptr captures(none) %arena, i32 %kind, ptr %data, i32 %rank, ptr readonly captures(none) %extents) nounwind {
entry:
  %conv = zext i32 %rank to i64
  %mul = shl nuw nsw i64 %conv, 3
  %add.i = add nuw nsw i64 %mul, 104
  %call.i10 = tail call ptr @relay_alloc(i64 %add.i) nounwind
  %cmp.i11 = icmp eq ptr %call.i10, null
  br i1 %cmp.i11, label %cleanup, label %if.end

if.end:
  %0 = load ptr, ptr %arena, align 8
  store ptr %0, ptr %call.i10, align 8
  store ptr %call.i10, ptr %arena, align 8
  %memory.i = getelementptr inbounds nuw i8, ptr %call.i10, i64 64
  store i64 1152921504606846976, ptr %memory.i, align 8
  %1 = getelementptr inbounds nuw i8, ptr %call.i10, i64 72
  store i32 %kind, ptr %1, align 8
  %field_count1.i = getelementptr inbounds nuw i8, ptr %call.i10, i64 76
  store i32 1, ptr %field_count1.i, align 4
  %block_class.i = getelementptr inbounds nuw i8, ptr %call.i10, i64 80
  store i64 0, ptr %block_class.i, align 8
  %owner = getelementptr inbounds nuw i8, ptr %call.i10, i64 88
  store i64 3, ptr %owner, align 8
  %data2 = getelementptr inbounds nuw i8, ptr %call.i10, i64 96
  store ptr %data, ptr %data2, align 8
  %extents3 = getelementptr inbounds nuw i8, ptr %call.i10, i64 104
  tail call void @llvm.memcpy.p0.p0.i64(ptr nonnull align 8 %extents3, ptr align 8 %extents, i64 %mul, i1 false)
  br label %cleanup

cleanup:
  %retval.0 = phi ptr [ %memory.i, %if.end ], [ null, %entry ]
  ret ptr %retval.0
}

define i64 @relay_cell(ptr captures(none) %arena, i32 %kind, i32 %count, ptr readonly captures(none) %fields) nounwind {
entry:
  %cmp = icmp eq i32 %count, 0
  br i1 %cmp, label %if.then, label %for.body.i.preheader

for.body.i.preheader:
  %wide.trip.count = zext i32 %count to i64
  br label %for.body.i

if.then:
  %conv.i = zext i32 %kind to i64
  %mul.i = shl nuw nsw i64 %conv.i, 1
  %add.i = or disjoint i64 %mul.i, 1
  br label %return

for.cond.i:
  %indvars.iv.next = add nuw nsw i64 %indvars.iv, 1
  %exitcond.not = icmp eq i64 %indvars.iv.next, %wide.trip.count
  br i1 %exitcond.not, label %if.end3, label %for.body.i

for.body.i:
  %indvars.iv = phi i64 [ 0, %for.body.i.preheader ], [ %indvars.iv.next, %for.cond.i ]
  %arrayidx.i = getelementptr inbounds nuw i64, ptr %fields, i64 %indvars.iv
  %0 = load i64, ptr %arrayidx.i, align 8
  %cmp1.i = icmp eq i64 %0, 0
  br i1 %cmp1.i, label %return, label %for.cond.i

if.end3:
  %mul = shl nuw nsw i64 %wide.trip.count, 3
  %add.i19 = add nuw nsw i64 %mul, 88
  %call.i20 = tail call ptr @relay_alloc(i64 %add.i19) nounwind
  %cmp.i21 = icmp eq ptr %call.i20, null
  br i1 %cmp.i21, label %return, label %if.then7

if.then7:
  %1 = load ptr, ptr %arena, align 8
  store ptr %1, ptr %call.i20, align 8
  store ptr %call.i20, ptr %arena, align 8
  %memory.i = getelementptr inbounds nuw i8, ptr %call.i20, i64 64
  store i64 1152921504606846976, ptr %memory.i, align 8
  %2 = getelementptr inbounds nuw i8, ptr %call.i20, i64 72
  store i32 %kind, ptr %2, align 8
  %field_count1.i = getelementptr inbounds nuw i8, ptr %call.i20, i64 76
  store i32 %count, ptr %field_count1.i, align 4
  %block_class.i = getelementptr inbounds nuw i8, ptr %call.i20, i64 80
  store i64 0, ptr %block_class.i, align 8
  %fields8 = getelementptr inbounds nuw i8, ptr %call.i20, i64 88
  tail call void @llvm.memcpy.p0.p0.i64(ptr nonnull align 8 %fields8, ptr nonnull align 8 %fields, i64 %mul, i1 false)
  %3 = ptrtoint ptr %memory.i to i64
  br label %return

return:
  %retval.0 = phi i64 [ %add.i, %if.then ], [ 0, %if.end3 ], [ %3, %if.then7 ], [ 0, %for.body.i ]
  ret i64 %retval.0
}

define i32 @relay_kind(i64 %value) nounwind {
entry:
  %and.i = and i64 %value, 1
  %tobool.i.not = icmp eq i64 %and.i, 0
  br i1 %tobool.i.not, label %cond.false, label %cond.true

cond.true:
  %shr = lshr i64 %value, 1
  %conv = trunc i64 %shr to i32
  br label %cond.end

cond.false:
  %0 = inttoptr i64 %value to ptr
  %1 = getelementptr inbounds nuw i8, ptr %0, i64 8
  %2 = load i32, ptr %1, align 8
  br label %cond.end

cond.end:
  %cond = phi i32 [ %conv, %cond.true ], [ %2, %cond.false ]
  ret i32 %cond
}

define i64 @relay_field(ptr readonly captures(none) %value, i32 %position) nounwind {
entry:
  %fields = getelementptr inbounds nuw i8, ptr %value, i64 24
  %idxprom = zext i32 %position to i64
  %arrayidx = getelementptr inbounds nuw i64, ptr %fields, i64 %idxprom
  %0 = load i64, ptr %arrayidx, align 8
  ret i64 %0
}

define ptr @relay_data(ptr readonly captures(none) %value) nounwind {
entry:
  %data = getelementptr inbounds nuw i8, ptr %value, i64 32
  %0 = load ptr, ptr %data, align 8
  ret ptr %0
}

define nonnull ptr @relay_extents(ptr readnone captures(ret: address, provenance) %value) nounwind {
entry:
  %extents = getelementptr inbounds nuw i8, ptr %value, i64 40
  ret ptr %extents
}
