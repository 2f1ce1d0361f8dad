import { Problem } from '../problem/problem.ts'

/** The rows of NDJSON, blank lines passed over. Throws MALFORMED_JSON, which names the line. */
export function rowsOfLines(text: string): unknown[] {
  return text.split('\n').flatMap((line, i) => {
    if (line.trim() === '') return []
    try {
      return [JSON.parse(line) as unknown]
    } catch {
      throw new Problem('MALFORMED_JSON', `Line ${i + 1} must be valid JSON.`, { line: i + 1 })
    }
  })
}
