/** A mistake of a caller of the API, and what the answer to it has to say. */
export interface ApiMistake {
  mistake: string
  method?: string
  path: string
  body?: unknown
  /** Headers in addition to the key; `authorization: ''` sends none. */
  headers?: Readonly<Record<string, string>>
  /** The request carries the token of the operator. */
  isOperator?: boolean
  status: number
  /** The field, code or path that the message names. */
  names: string
  /** What would be right, as the message says it. */
  right: string
  /** What was sent, as the message repeats it; absent where nothing was sent or it is a secret. */
  got?: string
  /** The value that was probably meant. */
  nearest?: string
}

/** The 39 mistakes that a reader tried, in that reader's order. */
export const readMistakes: readonly ApiMistake[] = []
