import { t } from '../../../http/answer/schema.ts'
import { pastInQueryWorker } from '../../../http/gate/access-kind.ts'
import type { Page } from '../../../http/input/page.ts'
import { wordParameter } from '../../../http/input/typed.ts'
import { envelope, markFixtures, type Reply, success } from '../../../http/operations/answer.ts'
import type { Context } from '../../../http/operations/context.ts'
import { operation } from '../../../http/operations/operation.ts'
import { invalidParameter, Problem } from '../../../http/problem/problem.ts'
import { NestedProblem } from '../../../http/problem/shape.ts'
import { isoInstant, isoOrNull } from '../../../lib/time/instant.ts'
import {
  type SpreadIdentity,
  type SpreadType,
  spreads as spreadsByType,
} from '../../units/math/identities.ts'
import { calculated } from './indicator-shape.ts'
import { refusals } from './shape.ts'
import { spreadCurveOperations } from './spread-curves.ts'
import {
  bucketOf,
  historyQuery,
  historyRange,
  historyRow,
  pastOf,
  SpreadHistory,
} from './spread-history.ts'
import { type MissingLeg, SpreadRow, spreadValue } from './spread-row.ts'

/** The paths of spreads and their names in the documentation. */
const paths: readonly {
  path: string
  type: SpreadType
  title: string
  plural: string
  name: string
  listName: string
  /** The path that replaces this one. */
  aliasOf?: string
}[] = [
  {
    path: 'crack',
    type: 'crack',
    title: 'a crack spread',
    plural: 'crack spreads',
    name: 'CrackSpread',
    listName: 'CrackSpreads',
  },
  {
    path: 'basis',
    type: 'basis',
    title: 'a basis spread',
    plural: 'basis spreads',
    name: 'Basis',
    listName: 'BasisSpreads',
  },
  {
    path: 'refining-margin',
    type: 'refining-margin',
    title: 'a refining margin',
    plural: 'refining margins',
    name: 'RefiningMargin',
    listName: 'RefiningMargins',
  },
  {
    path: 'margin',
    type: 'refining-margin',
    title: 'a refining margin',
    plural: 'refining margins',
    name: 'Margin',
    listName: 'Margins',
    aliasOf: 'refining-margin',
  },
  {
    path: 'physical-premium',
    type: 'physical-premium',
    title: 'a physical premium',
    plural: 'physical premiums',
    name: 'PhysicalPremium',
    listName: 'PhysicalPremiums',
  },
]

const SpreadList = t.Object({
  status: t.Literal('success'),
  data: t.Array(SpreadRow),
  meta: t.Object({
    count: t.integer({ examples: [7] }),
    unavailable: t.objects('Omitted spreads, each with the leg that has no price.', {
      id: t.String({ examples: ['dubai_jet'] }),
      leg: t.String({ examples: ['DUBAI_CRUDE_USD'] }),
    }),
  }),
})

function identityOf(type: SpreadType, text: string | undefined): SpreadIdentity {
  const identities = spreadsByType[type]
  if (text === undefined || text === '') return identities[0]!
  const ids = identities.map(spread => spread.id)
  const identity = identities.find(spread => spread.id === text.trim().toLowerCase())
  if (!identity) throw invalidParameter('id', text, ids)
  return identity
}

function missingLeg(subject: string, { leg, reason, lastAt }: MissingLeg): Problem {
  const why =
    lastAt === undefined
      ? 'has no price'
      : `has had no price since ${isoInstant(lastAt)}, which is too old`
  return new Problem('DATA_NOT_AVAILABLE', `${subject} is not available: its leg ${leg} ${why}.`, {
    leg,
    reason,
    ...(lastAt !== undefined && { last_updated: isoInstant(lastAt) }),
  })
}

function currentSpread(deps: Context, type: SpreadType, id: string | undefined, reply: Reply) {
  const identity = identityOf(type, id)
  const value = spreadValue(type, identity, deps)
  if ('leg' in value) throw missingLeg(identity.id, value)
  markFixtures(reply, deps.marks, value.matches)
  return success(value.row)
}

function allSpreads(deps: Context, type: SpreadType, reply: Reply) {
  const results = spreadsByType[type].map(identity => ({
    id: identity.id,
    value: spreadValue(type, identity, deps),
  }))
  const rows = results.flatMap(result => ('row' in result.value ? result.value : []))
  const unavailable = results.flatMap(({ id, value }) =>
    'leg' in value ? { id, leg: value.leg } : [],
  )
  const first = results[0]!
  if (rows.length === 0 && 'leg' in first.value) throw missingLeg(first.id, first.value)
  markFixtures(
    reply,
    deps.marks,
    rows.flatMap(row => row.matches),
  )
  return { ...success(rows.map(row => row.row)), meta: { count: rows.length, unavailable } }
}

function pastSpread(
  deps: Context,
  type: SpreadType,
  query: Record<string, string | undefined>,
  page: Page,
  reply: Reply,
) {
  const identity = identityOf(type, query.id)
  const now = deps.now()
  const range = historyRange(query, now)
  const bucket = bucketOf(query.interval)
  const past = pastOf(identity, range, bucket, deps, now)
  if ('leg' in past) throw missingLeg(identity.id, past)
  markFixtures(reply, deps.marks, past.matches)
  return {
    ...success(
      past.days
        .slice(page.offset, page.offset + page.perPage)
        .map(spreadDay => historyRow(spreadDay, identity.unit)),
    ),
    id: identity.id,
    type,
    name: identity.name,
    formula: identity.formula,
    interval: bucket,
    coverage: past.coverage,
    data_revised_at: isoOrNull(past.revisedAt),
    meta: page.meta(past.days.length),
  }
}

/**
 * Differences between prices that people trade and refine by: now, in the past and all of a kind.
 */
export function spreadOperations(deps: Context) {
  const hours = deps.limits.futuresMaxAgeHours
  // Each type has a path instead of a parameter, because each documents its parameters, and an
  // unknown type is an unknown route.
  const current = paths.flatMap(({ path, type, title, plural, name, listName, aliasOf }) => {
    const replaced = (rest = '') =>
      aliasOf === undefined ? {} : { deprecated: { use: `/v1/spreads/${aliasOf}${rest}` } }
    const identities = spreadsByType[type]
    const ids = identities.map(identity => identity.id).join(', ')
    const formulas = `| \`id\` | Formula | Unit |
|---|---|---|
${identities.map(({ id, formula, unit }) => `| \`${id}\` | ${formula} | ${unit} |`).join('\n')}`
    const idQuery = wordParameter(
      identities.map(identity => identity.id),
      `One of ${ids}; absent: ${identities[0]!.id}.`,
      identities[0]!.id,
      { default: identities[0]!.id },
    )
    return [
      operation(`GET /v1/spreads/${path}`, {
        operationId: `get${name}`,
        summary: `Get ${title}`,
        ...replaced(),
        description: `Returns the spread from the newest price of each leg. A leg without a price from the last ${hours} hours is a 404 that names it.

${formulas}`,
        access: { ...calculated, ...pastInQueryWorker },
        view: 'as_of',
        query: { id: idQuery },
        answers: { 200: envelope(SpreadRow), ...refusals },
        handle: ({ at, query, reply }) => currentSpread(at, type, query.id, reply),
      }),
      operation(`GET /v1/spreads/${path}/all`, {
        operationId: `list${listName}`,
        summary: `List all ${plural}`,
        ...replaced('/all'),
        description: `Returns every one of ${ids} whose legs have prices from the last ${hours} hours; \`meta.unavailable\` names the others with the missing leg. 404 if none is available.`,
        access: { ...calculated, ...pastInQueryWorker },
        view: 'as_of',

        answers: { 200: SpreadList, 400: refusals[400], 404: NestedProblem },
        handle: ({ at, reply }) => allSpreads(at, type, reply),
      }),
      operation(`GET /v1/spreads/${path}/historical`, {
        operationId: `get${name}History`,
        summary: `List historical ${plural}`,
        ...replaced('/historical'),
        description: `Returns one value per date, newest first, from the daily closes on dates common to all legs. A close is the last current observation of a UTC day; quarantined days are absent and nothing is filled. \`coverage\` describes which part of the requested range has values; \`data_revised_at\` is when a leg was last corrected inside it.

${formulas}`,
        access: { ...calculated, heavy: true },
        view: 'as_of',
        page: { max: 100 },
        query: { id: idQuery, ...historyQuery },
        answers: { 200: SpreadHistory, ...refusals },
        handle: ({ at, query, page, reply }) => pastSpread(at, type, query, page, reply),
      }),
    ]
  })
  return [...spreadCurveOperations(deps), ...current]
}
