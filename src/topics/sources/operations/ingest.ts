import { timingSafeEqual } from 'node:crypto'
import { answerRow } from '../../../http/answer/row.ts'
import { credentialsOf } from '../../../http/gate/credentials.ts'
import { readBodyText } from '../../../http/input/body.ts'
import { envelope, success } from '../../../http/operations/answer.ts'
import type { Context } from '../../../http/operations/context.ts'
import { operation } from '../../../http/operations/operation.ts'
import { Problem, stateForbids, validationFailed } from '../../../http/problem/problem.ts'
import { featureMissing } from '../../../http/problem/refusals.ts'
import { NestedProblem, ValidationProblem } from '../../../http/problem/shape.ts'
import { timestampedSignature } from '../../../lib/secrets/signature.ts'
import { sameHash, tokenHash } from '../../../lib/secrets/token.ts'
import { minuteMs, secondMs } from '../../../lib/time/instant.ts'
import { hasFeature } from '../../../plans/plans.ts'
import type { DataSource } from '../service/sources.ts'
import { sourceParams } from './route.ts'
import { PushedRows } from './row.ts'

const Pushed = envelope(PushedRows)

/** The allowed difference between a sender's clock and ours. */
const signatureAgeMs = 5 * minuteMs

const noEntry = () =>
  new Problem('UNAUTHORIZED', 'Unknown data source, or wrong secret or signature.')

/**
 * Where rows are pushed to. Anyone who pushes has no key of the account: what lets them in is the
 * secret of the source, and it opens nothing else.
 */
export function sourceIngestOperations(deps: Context) {
  const { dataSources: sources, sourceSync, keys, plans, links, headerPrefix } = deps
  const isSigned = signatureJudge(deps)

  /**
   * The source, if the caller knows its secret. Unknown sources, sources without push and sources
   * without a secret all look the same.
   */
  const admitted = (request: Request, id: string, content: string): DataSource => {
    const source = sources.byId(id)
    const secret = source?.sourceType === 'webhook' ? sourceSync.secretOf(source) : undefined
    if (!source || secret === undefined) throw noEntry()
    const sent =
      request.headers.get('authorization') === null ? undefined : credentialsOf(request, true).token
    const isKnown =
      sent === undefined
        ? isSigned(request, secret, content)
        : sameHash(tokenHash(sent), tokenHash(secret))
    if (!isKnown) throw noEntry()
    return source
  }
  /** The account may have lost what let it make the source. */
  const refusePlan = (source: DataSource, request: Request) => {
    const account = keys.account(source.accountId)!
    if (account.account.suspendedAt !== null)
      throw new Problem('KEY_SUSPENDED', 'The account of this data source is suspended.')
    const entitled = keys.entitlements(account)
    if (!hasFeature(entitled, 'data_connector'))
      throw featureMissing(plans, links(request), entitled, 'data_connector')
  }

  return [
    operation('POST /v1/data-sources/:id/ingest', {
      operationId: 'pushDataSourceRows',
      summary: 'Push rows to a data source',
      description: `Records pushed rows of a data source of type \`webhook\` and returns the counts: JSON, NDJSON or CSV of up to 1 MB, parsed according to the source's \`scraper_config\`. It takes no API key. Either send the source's own \`credentials.secret\` as \`Authorization: Bearer <secret>\`, or a signature: \`${headerPrefix}Signature\` is the hexadecimal HMAC-SHA256 with that secret over the body, a dot and the Unix seconds in \`${headerPrefix}Signature-Timestamp\`, with a tolerance of five minutes. Repeating a push changes nothing. Invalid rows are named and the others recorded; 422 if none is valid.`,
      detail: {
        requestBody: {
          required: true,
          content: {
            'application/json': {
              schema: { type: 'array', items: { type: 'object' } },
              example: pushExample,
            },
            'application/x-ndjson': { schema: { type: 'string' } },
            'text/csv': { schema: { type: 'string' } },
          },
        },
      },
      access: { open: 'The secret of the data source is what lets in.' },
      params: sourceParams.properties,
      answers: {
        200: Pushed,
        400: NestedProblem,
        401: NestedProblem,
        403: NestedProblem,
        413: NestedProblem,
        422: ValidationProblem,
      },
      handle: async ({ params, request }) => {
        const content = await readBodyText(request)
        const source = admitted(request, params.id, content)
        refusePlan(source, request)
        if (source.status === 'paused')
          throw stateForbids(
            'data_source_paused',
            'The data source is paused. Its owner can activate it.',
          )
        const log = await sourceSync.push(source, content)
        if (!log) throw noEntry()
        if (log.error !== null) {
          throw validationFailed(
            log.rejections.length > 0
              ? log.rejections.map(faultOf)
              : [{ field: 'body', message: log.error, value: null }],
          )
        }
        return success(answerRow(PushedRows, log, {}))
      },
    }),
  ]
}

const pushExample = [
  {
    timestamp: '2026-11-20T09:30:00Z',
    fuel_type: 'VLSFO',
    port: 'SINGAPORE',
    price: 531.5,
    currency: 'USD',
  },
]

const faultOf = (message: string) => ({
  field: /^row \d+/.exec(message)?.[0].replace('row ', 'rows.') ?? 'body',
  message,
  value: null,
})

function signatureJudge({ headerPrefix, clock }: Context) {
  return (request: Request, secret: string, content: string): boolean => {
    const [signature, stamp] = [
      request.headers.get(`${headerPrefix}Signature`),
      request.headers.get(`${headerPrefix}Signature-Timestamp`),
    ]
    if (signature === null || !/^\d{1,12}$/.test(stamp ?? '')) return false
    const timestamp = Number(stamp)
    if (Math.abs(timestamp * secondMs - clock.now()) > signatureAgeMs) return false
    const [right, sent] = [
      Buffer.from(timestampedSignature(secret, content, timestamp)),
      Buffer.from(signature.toLowerCase()),
    ]
    return right.length === sent.length && timingSafeEqual(right, sent)
  }
}
