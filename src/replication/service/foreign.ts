/** The fields of a JSON object; undefined for other texts, which any client may have written. */
export function recordIn(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
    return isObject ? (value as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}

/** A value of this shape as it is stored: each field may be missing or anything else. */
export type Stored<T> = Partial<Record<keyof T, unknown>> | undefined
