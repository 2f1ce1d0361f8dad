import { t } from '../../../../http/answer/schema.ts'
import { noBody } from '../../../../http/input/body-schema.ts'
import { PageMetaShape } from '../../../../http/input/page.ts'
import { textParameter } from '../../../../http/input/typed.ts'
import { envelope, envelopeOf, success } from '../../../../http/operations/answer.ts'
import type { Context } from '../../../../http/operations/context.ts'
import { operation } from '../../../../http/operations/operation.ts'
import { notFound, stateForbids } from '../../../../http/problem/problem.ts'
import { ValidationProblem } from '../../../../http/problem/shape.ts'
import { secondMs } from '../../../../lib/time/instant.ts'
import { LogShape, logRow, SourceShape, sourceRow } from '../../../sources/operations/row.ts'
import type { DataSource } from '../../../sources/service/sources.ts'

const operator = { operator: 'people' } as const
/** For reading what came and for writing it down. */
const spareSeconds = 10

/** Not the configuration: an address may hold what only its owner is to know. */
const { scraper_config: _, ingest_url: __, ...shown } = SourceShape.properties
export const OwnedSource = t.object('OwnedDataSource', {
  ...shown,
  account_id: t.String({ examples: ['00000000-0000-4000-8000-000000000001'] }),
  account_email: t.orNull(t.String({ examples: ['desk@example.com'] })),
})
export type OwnedSource = (typeof OwnedSource)['static']
const Listed = envelopeOf({ sources: t.Array(OwnedSource), meta: PageMetaShape })

/** The data sources of all accounts, for the operator. */
export function sourceAdminOperations({
  dataSources,
  sourceSync,
  keys,
  connections,
  config,
}: Context) {
  const rowOf = (source: DataSource) => {
    const {
      scraper_config: _,
      ingest_url: __,
      ...row
    } = { ingest_url: undefined, ...sourceRow(source, '') }
    return {
      ...row,
      account_id: source.accountId,
      account_email: keys.account(source.accountId)?.account.email ?? null,
    }
  }
  return [
    operation('GET /admin/v1/sources', {
      operationId: 'listAllDataSources',
      summary: 'List the data sources of all accounts',
      description:
        'Returns the data sources of all accounts, oldest first, with their sync status. Configurations and credentials are not included.',
      access: operator,
      page: { max: 100 },
      query: {
        name: textParameter(
          'Only those of this name, in any letter case, or of this id.',
          'Terminal feed',
        ),
      },
      answers: Listed,
      handle: ({ query, page }) => {
        const sources = dataSources.page(query.name, page.perPage, page.offset)
        return success({
          sources: sources.map(rowOf),
          meta: page.meta(dataSources.total(query.name)),
        })
      },
    }),
    operation('POST /admin/v1/sources/:id/sync', {
      operationId: 'syncDataSource',
      summary: 'Sync a data source now',
      description:
        'Syncs a data source immediately and returns the result: 200 with `status: "failed"` and the reason if it could not be read. The next sync is scheduled from this one. 422 if its owner has paused it, if it is of type `webhook`, or if a sync is in progress.',
      access: operator,
      idempotent: true,
      params: {
        id: t.string('Id of the data source.', '00000000-0000-4000-8000-000000000801'),
      },
      body: noBody,
      answers: { 200: envelope(LogShape), 422: ValidationProblem },
      prepare: async ({ params: { id }, request }) => {
        const source = dataSources.byId(id)
        if (!source) throw notFound('data source', id)
        connections.idle(
          request,
          Math.ceil(config.data_sources.timeoutMs / secondMs) + spareSeconds,
        )
        return { source, outcome: await sourceSync.syncNow(source) }
      },
      handle({ prepared: { source, outcome } }) {
        if ('refused' in outcome)
          throw stateForbids(
            'data_source_not_synced',
            `The data source was not synced: ${outcome.refused}.`,
          )
        return success(logRow(source, outcome))
      },
    }),
  ]
}
