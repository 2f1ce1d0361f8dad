import { AsyncLocalStorage } from 'node:async_hooks'

/** The viewer: the accounts of a caller; the service itself and its operator see all. */
export type Viewer = { accounts: readonly string[] } | 'everything'

/**
 * The viewer of the current work. Series are looked up by code in a hundred places; their
 * visibility is decided in one, the catalogue, which reads the viewer here.
 */
export interface Viewers {
  /** Runs a request, including everything it waits for; it has no viewer until `meet` sets one. */
  request<T>(work: () => T): T
  /** `viewer` is only called where a series is restricted. */
  meet(viewer: () => Viewer): void
  /** Runs work for an account outside of a request: an e-mail, the run of a watch. */
  as<T>(viewer: Viewer, work: () => T): T
  /** Undefined: no one in particular, so everything is seen. */
  current(): Viewer | undefined
}

export function createViewers(): Viewers {
  const storage = new AsyncLocalStorage<{ viewer: Viewer }>()
  return {
    request: work => storage.run({ viewer: { accounts: [] } }, work),
    meet(viewer) {
      const context = storage.getStore()
      if (context) context.viewer = viewer()
    },
    as: (viewer, work) => storage.run({ viewer }, work),
    current: () => storage.getStore()?.viewer,
  }
}
