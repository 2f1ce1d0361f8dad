import type { Runtime } from '../../../config/runtime.ts'
import type { Egress } from '../../../send/egress/egress.ts'
import { createSourceFetch } from '../../../send/sources/fetch.ts'
import type { Keyring } from '../../keys/service/keyring.ts'
import type { Vault } from '../../keys/service/vault.ts'
import { createDataSourceStore } from '../store/sources.ts'
import { createSourceFiles } from './file.ts'
import { createDataSources } from './sources.ts'
import { createSourceSync, type RowReader } from './sync.ts'

/** Private data sources of accounts. */
export type SourceServices = ReturnType<typeof openSources>

export interface SourceServicesDeps extends Runtime {
  keys: Keyring
  vault: Vault
  egress: Egress
  /** Finds the rows in what a source holds. */
  reader: RowReader
}

export function openSources(deps: SourceServicesDeps) {
  const { db, config, clock, egress } = deps
  const { perAccount, timeoutMs, directory } = config.data_sources
  const dataSources = createDataSources({ ...deps, store: createDataSourceStore(db), perAccount })
  return {
    dataSources,
    sourceSync: createSourceSync({
      ...deps,
      sources: dataSources,
      timeoutMs,
      files: createSourceFiles(directory),
      fetch: createSourceFetch({ egress, clock, userAgent: config.brand.webhookUserAgent }),
    }),
  }
}
