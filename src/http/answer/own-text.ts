const ownText = Symbol('text')

type Marked = Response & { [ownText]?: string }

/** Says of an answer what text it is made of: to encode it, its body need not be read back. */
export function markText(answer: Response, text: string): Response {
  const marked: Marked = answer
  marked[ownText] = text
  return marked
}

/** Undefined: the body alone has it. */
export const markedText = (answer: Marked): string | undefined => answer[ownText]
