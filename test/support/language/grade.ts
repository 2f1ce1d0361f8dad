/** What a message about a mistake has to say, as the message says it. */
export interface Demand {
  /** The field, parameter, code, path, option or file that is wrong. */
  names: string
  /** What would be right; absent where the nearest value says it. */
  right?: string
  /** What was sent, shortened; absent where nothing was sent or it is a secret. */
  got?: string
  /** The value that was probably meant. */
  nearest?: string
}

/** Error codes of the system, words of one voice in the other, and stack traces. */
const unreadable =
  /\bE[A-Z]{4,}\b:|\bundefined\b|\[object|\bat \S+:\d+:\d+|\bis (?:none of|neither)\b/

/** What a message does not say of what it has to. */
export const missingIn = (message: string, demand: Demand): string[] =>
  Object.entries(demand)
    .filter(([, text]) => text !== undefined && !message.includes(text))
    .map(([name, text]) => `${name}: ${text}`)

/** A: says everything; B: one thing is missing; C: more is missing, or it cannot be read. */
export function gradeOf(message: string, demand: Demand): 'A' | 'B' | 'C' {
  const missing = missingIn(message, demand).length
  if (message === '' || unreadable.test(message) || missing > 1) return 'C'
  return missing === 0 ? 'A' : 'B'
}
