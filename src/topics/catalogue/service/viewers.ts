import { AsyncLocalStorage } from 'node:async_hooks'

/** The viewer: the accounts of a caller; the service itself and its operator see all. */
export type Viewer = { accounts: readonly string[] } | 'everything'

/**
 * The viewer of the current work. Series are looked up by code in a hundred places; their
 * visibility is decided in one, the catalogue, which reads the viewer here.
 */
export type Viewers = ReturnType<typeof createViewers>

export function createViewers() {
  const storage = new AsyncLocalStorage<{ viewer: Viewer }>()
  return {
    /** Runs a request with everything that it awaits. No one is its viewer until `set` is called. */
    request: <T>(work: () => T): T => storage.run({ viewer: { accounts: [] } }, work),
    /** Sets the viewer of the current request; has no effect outside of `request`. */
    set(viewer: () => Viewer) {
      const context = storage.getStore()
      if (context) context.viewer = viewer()
    },
    /** Runs work for an account outside of a request: an e-mail, the run of a watch. */
    as: <T>(viewer: Viewer, work: () => T): T => storage.run({ viewer }, work),
    /** Undefined: no one in particular, so everything is seen. */
    current: (): Viewer | undefined => storage.getStore()?.viewer,
  }
}
