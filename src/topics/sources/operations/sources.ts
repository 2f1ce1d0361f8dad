import { t } from 'elysia'
import { integer } from '../../../http/answer/integer.ts'
import { noBody } from '../../../http/input/body-schema.ts'
import { envelope, success } from '../../../http/operations/answer.ts'
import type { Context } from '../../../http/operations/context.ts'
import { operation } from '../../../http/operations/operation.ts'
import { stateForbids } from '../../../http/problem/problem.ts'
import type { SourceRefusal } from '../service/sources.ts'
import { createSourceForms, NewSourceBody, SourceChangeBody } from './form.ts'
import { sourceIngestOperations } from './ingest.ts'
import { ownSource, sourceAccess, sourceParams, sourceWrite } from './route.ts'
import { SourceAnswer, SourceShape, sourceAnswer, sourceRow } from './row.ts'
import { sourceSyncOperations } from './syncs.ts'

const Listed = envelope(t.Object({ data_sources: t.Array(SourceShape), count: integer() }))
const One = envelope(SourceAnswer)
const Deleted = envelope(t.Object({ id: t.String(), deleted: t.Literal(true) }))

/** A new source and a change of one may set credentials. */
const withSecret = { ...sourceWrite, secret: true } as const

/** Where the caller's account gets prices of its own from. */
export const sourceOperations = (deps: Context) => [
  ...listAndCreate(deps),
  ...changeOne(deps),
  ...sourceSyncOperations(deps),
  ...sourceIngestOperations(deps),
]

function listAndCreate(deps: Context) {
  const { dataSources: sources, links } = deps
  const forms = createSourceForms(deps)
  return [
    operation('GET /v1/data-sources', {
      operationId: 'listDataSources',
      summary: 'List data sources',
      description: 'Every data source of the account, newest first, without credentials.',
      access: sourceAccess,
      answers: { 200: Listed },
      handle: ({ caller, request }) => {
        const rows = sources
          .list(caller.key.account.account.id)
          .map(source => sourceRow(source, links(request).baseUrl))
        return success({ data_sources: rows, count: rows.length })
      },
    }),
    operation('POST /v1/data-sources', {
      operationId: 'createDataSource',
      summary: 'Create a data source',
      description: creation,
      access: withSecret,
      idempotent: true,
      body: NewSourceBody.schema,
      answers: { 201: One },
      handle: ({ body, caller, request, reply }) => {
        const source = sources.create(caller.key.account, forms.created(body))
        if ('refused' in source) throw limitReached(source)
        reply.status = 201
        return success(sourceAnswer(source, links(request).baseUrl))
      },
    }),
  ]
}

const limitReached = ({ limit, count }: SourceRefusal) =>
  stateForbids(
    'data_source_limit_reached',
    `The account has ${count} data sources of ${limit} it may have; delete one first.`,
    {
      limit,
      current_count: count,
    },
  )

const creation = `A source of marine fuel prices that belong to the account alone: \`GET /v1/prices/data-connector\` answers them, nothing else does.

**Types.** \`api\`: one GET of \`scraper_config.url\`, https to public addresses, redirects not followed, at most 4 MB. \`file\`: \`scraper_config.path\` below the directory that the operator keeps for files. \`webhook\`: nothing is fetched; rows are pushed to \`ingest_url\`. Any other type is kept, and its sync says that this build has none.

**Rows.** JSON, NDJSON or CSV, gzip too, at most 5,000 at a time. Each needs a \`price\` per metric ton, a \`timestamp\` (ISO 8601 with zone, a day, or Unix time), a \`fuel_type\` and a \`port\`; \`currency\` (USD), \`region\` and \`unit\` (MT) may stand beside them. \`fields\` says what a row calls each, with dots into objects, and \`defaults\` what stands for what rows lack. Rows that can not be taken are counted and named in the log, and the others are taken. The same rows again change nothing; another price for the same time, fuel and port replaces the one before. The newest 20,000 rows of a source are kept.

**Schedule.** Every \`interval_minutes\` (60), for the first time at once. After a failure twice as long each time, up to a day; after ten in a row the source is \`failed\` until something is changed.

**Credentials** are sealed at rest and never answered. They are taken out of what a source sends before it is read.`

function changeOne(deps: Context) {
  const { dataSources: sources, links } = deps
  const forms = createSourceForms(deps)
  const common = { access: sourceWrite, params: sourceParams.properties }
  return [
    operation('GET /v1/data-sources/:id', {
      operationId: 'getDataSource',
      summary: 'A data source',
      description: 'One data source and how its syncs went, without credentials.',
      access: sourceAccess,
      params: sourceParams.properties,
      answers: { 200: One },
      handle: ({ caller, params: { id }, request }) =>
        success(sourceAnswer(ownSource(sources, id, caller), links(request).baseUrl)),
    }),
    operation('PATCH /v1/data-sources/:id', {
      operationId: 'changeDataSource',
      summary: 'Change a data source',
      description:
        'Sets what the body names and leaves the rest; `scraper_config` and `credentials` are replaced as a whole, null takes them away. Another configuration or credential, and `status: "active"`, start the source anew: its failures are forgotten and it is synced at once. The type stays.',
      ...common,
      access: withSecret,
      body: SourceChangeBody.schema,
      answers: { 200: One },
      handle: ({ body, caller, params: { id }, request }) => {
        const source = ownSource(sources, id, caller)
        return success(
          sourceAnswer(sources.change(source, forms.changed(body, source)), links(request).baseUrl),
        )
      },
    }),
    operation('DELETE /v1/data-sources/:id', {
      operationId: 'deleteDataSource',
      summary: 'Delete a data source',
      description: 'Ends the source for good, with its credentials, its rows and its log.',
      ...common,
      body: noBody,
      answers: { 200: Deleted },
      handle: ({ caller, params: { id } }) => {
        sources.remove(ownSource(sources, id, caller))
        return success({ id, deleted: true as const })
      },
    }),
  ]
}
