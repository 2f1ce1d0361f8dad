/** A value of this shape as it is stored: each field may be missing or anything else. */
export type Stored<T> = Partial<Record<keyof T, unknown>> | undefined
