import { AsyncLocalStorage } from 'node:async_hooks'

/** A trace that work continues, as W3C Trace Context writes it. */
export interface Trace {
  /** 32 hexadecimal digits. */
  id: string
  /** The span that caused the work: 16 hexadecimal digits. */
  parentId: string
  /** Whether the client that began the trace records it. */
  isSampled: boolean
  /** The header that hands it on. */
  traceparent: string
}

const pattern = /^(?!ff)[\da-f]{2}-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-([\da-f]{2})(-|$)/

/** The trace of a `traceparent` header; undefined where there is none, or an invalid one. */
export function traceOf(header: string | null): Trace | undefined {
  if (header === null) return undefined
  const [, id, parentId, flags] = pattern.exec(header) ?? []
  if (id === undefined || parentId === undefined || flags === undefined) return undefined
  return {
    id,
    parentId,
    isSampled: (Number.parseInt(flags, 16) & 1) === 1,
    traceparent: `00-${id}-${parentId}-${flags}`,
  }
}

const storage = new AsyncLocalStorage<string | null>()

/** Does work that belongs to a trace, or to none. */
export const inTrace = <T>(traceparent: string | null, work: () => T): T =>
  storage.run(traceparent, work)

/** The `traceparent` of the present work; null where it belongs to no trace. */
export const currentTrace = (): string | null => storage.getStore() ?? null
