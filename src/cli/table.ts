/** Rows under their headings, each column as wide as its widest cell. */
export function tableLines(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
): string[] {
  const all = [headings, ...rows]
  const widths = headings.map((_, column) => Math.max(...all.map(row => row[column]?.length ?? 0)))
  return all.map(row =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  )
}

/** A text in lines of at most `width` columns, broken at spaces; a longer word stays whole. */
export function wrapped(text: string, width: number): string[] {
  const lines: string[] = []
  let line = ''
  for (const part of text.split(/(?<=\S)(?= )/)) {
    if (line !== '' && line.length + part.length > width) {
      lines.push(line)
      line = part.trimStart()
    } else line += part
  }
  return [...lines, line]
}
