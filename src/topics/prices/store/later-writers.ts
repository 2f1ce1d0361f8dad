/** A batch that wrote somewhere, and the one that it undid. */
export interface Writer {
  id: number
  undoesId?: number | undefined
}

/**
 * Whether something is left of what others wrote after a batch, given them in their order: one that
 * was undone gave back what was there before it.
 */
export function isOverwritten(laterWriters: readonly Writer[]): boolean {
  const stack: number[] = []
  for (const { id, undoesId } of laterWriters)
    if (undoesId !== undefined && stack.at(-1) === undoesId) stack.pop()
    else stack.push(id)
  return stack.length > 0
}
