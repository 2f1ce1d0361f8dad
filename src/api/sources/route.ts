import { t } from 'elysia'
import type { AccessPlugin } from '../../http/gate/access.ts'
import type { Caller } from '../../http/gate/gate.ts'
import type { Idempotency } from '../../http/idempotency.ts'
import { notFound } from '../../http/problem/problem.ts'
import type { Links } from '../../http/problem/refusals.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Plans } from '../../plan/plans.ts'
import type { Keyring } from '../../service/keys/keyring.ts'
import type { DataSource, DataSources } from '../../service/sources/sources.ts'
import type { SourceSync } from '../../service/sources/sync.ts'

export interface DataSourcesApiDeps {
  access: AccessPlugin
  dataSources: DataSources
  sourceSync: SourceSync
  idempotency: Idempotency
  keys: Pick<Keyring, 'account' | 'entitlements'>
  plans: Plans
  clock: Pick<Clock, 'now'>
  links(request: Request): Links
  /** Why a target may not be called; undefined when it may. */
  checkTarget(url: string): string | undefined
  /** Of the headers that sign what is pushed, such as `X-Service-`. */
  headerPrefix: string
}

export const sourceAccess = { feature: 'data_connector', meter: true } as const
export const sourceWrite = { ...sourceAccess, header: true } as const
export const sourceParams = t.Object({
  id: t.String({
    description: 'Id of the data source.',
    examples: ['00000000-0000-4000-8000-000000000801'],
  }),
})

/** A source of the caller's account; unknown, malformed and foreign ids look the same. */
export function ownSource(
  sources: Pick<DataSources, 'byId'>,
  id: string,
  { key }: Caller,
): DataSource {
  const source = sources.byId(id)
  if (source?.accountId !== key.account.account.id) throw notFound('The data source')
  return source
}
