const ownText = Symbol('text')

/** A text, or its bytes in UTF-8. */
export type Text = string | Uint8Array<ArrayBuffer>

/** The text of a body that a handler has written; undefined: it is not written yet. */
export const textIn = (body: unknown): string | undefined =>
  body instanceof Uint8Array
    ? new TextDecoder().decode(body)
    : typeof body === 'string'
      ? body
      : undefined

type Marked = Response & { [ownText]?: Text }

/** Marks a response with its text, so that encoding need not read the body back. */
export function markText(answer: Response, text: Text): Response {
  const marked: Marked = answer
  marked[ownText] = text
  return marked
}

/** Undefined: the body alone has it. */
export const markedText = (answer: Marked): Text | undefined => answer[ownText]
