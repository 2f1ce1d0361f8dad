import type { FeedSetting } from '../../../../feeds/engine/settings.ts'
import type { FeedView } from '../../../../feeds/engine/view.ts'
import { targetName, unreadOf } from '../../../../feeds/publishers/map.ts'
import type { FeedRun } from '../../../../feeds/store/feeds.ts'
import { answerRow } from '../../../../http/answer/row.ts'
import { t } from '../../../../http/answer/schema.ts'
import { requireArea } from '../../../../http/gate/permission.ts'
import {
  body,
  checked,
  choice,
  type FieldOptions,
  flag,
  listOf,
  noBody,
  omittable,
  text,
} from '../../../../http/input/body-schema.ts'
import { PageMetaShape } from '../../../../http/input/page.ts'
import type { Context } from '../../../../http/operations/context.ts'
import { type Operations, operation } from '../../../../http/operations/operation.ts'
import {
  nameNotFound,
  refusedField,
  stateForbids,
  validationFailed,
} from '../../../../http/problem/problem.ts'
import { NestedProblem, ValidationProblem } from '../../../../http/problem/shape.ts'
import { camelFields } from '../../../../lib/text/name-case.ts'
import { isoOrNull, parseDay } from '../../../../lib/time/instant.ts'

const operator = { operator: 'data' } as const
const runsShown = 10
/** Codes and datasets of one feed. */
const codesMax = 1000

const moment = t.orNull(t.String({ format: 'date-time' }))
export const RunShape = t.object('FeedRun', {
  id: t.String({ examples: ['019aa1c6-7f00-7abc-8def-0123456789ab'] }),
  feed: t.String({ examples: ['ecb'] }),
  trigger: t.oneOf(['schedule', 'operator', 'start']),
  started_at: t.String({ format: 'date-time' }),
  finished_at: moment,
  took_ms: t.orNull(t.integer('Milliseconds.')),
  result: t.orNull(
    t.oneOf(['new', 'unchanged', 'failed', 'held']),
    'held: the result was held for review and nothing was written.',
  ),
  requests: t.integer('Requests to the publisher.'),
  bytes: t.integer('Bytes received, after decompression.'),
  rows_read: t.integer("Number of values in the publisher's data, without blanks."),
  inserted: t.integer('Periods of codes that had no value.'),
  revised: t.integer('Periods whose value changed.'),
  unchanged: t.integer(),
  rejected: t.integer('Values that are not numbers or are out of bounds.'),
  held: t.integer(
    'Values held for review: all values if the result is held, otherwise single ones.',
  ),
  kept_as_corrected: t.integer('Values skipped because of an earlier decision of an operator.'),
  newest_period: t.orNull(t.String({ examples: ['2026-08-18'] })),
  problem: t.orNull(t.Object({ code: t.String({ examples: ['rows_fell'] }), message: t.String() })),
  notes: t.objects('Change by the publisher, such as shorter delivery periods.', {
    code: t.oneOf(['resolution_changed']),
    message: t.String(),
  }),
})
export type RunShape = (typeof RunShape)['static']
export const FeedShape = t.object('Feed', {
  name: t.String({ examples: ['ecb'] }),
  title: t.String(),
  publisher: t.String({ examples: ['European Central Bank'] }),
  homepage: t.String(),
  license_class: t.oneOf(['open', 'view']),
  attribution: t.String(),
  state: t.oneOf(['ok', 'late', 'failing', 'needs_key', 'needs_license', 'paused', 'off']),
  codes: t.integer('Codes that it fills.'),
  datasets: t.Array(t.String({ examples: ['rig-counts'] })),
  last_run: t.orNull(RunShape),
  last_new_at: moment,
  next_run_at: moment,
  expected_by: moment,
  consecutive_failures: t.integer(),
})
export type FeedShape = (typeof FeedShape)['static']
const MapShape = t.object('FeedMapLine', {
  source_id: t.String({ examples: ['RWTC'] }),
  code: t.Optional(t.String({ examples: ['WTI_USD'] })),
  dataset: t.Optional(t.String({ examples: ['rig-counts'] })),
  unit: t.string("The publisher's.", '$/BBL'),
  factor: t.string('Multiplier of each value.', '0.001'),
  from: moment,
  to: moment,
})
const SettingShape = t.Object({
  name: t.String({ examples: ['since'] }),
  value: t.String(),
  source: t.oneOf(['file', 'command']),
})
/** A feed with what it fills, how it is set and its newest runs. */
const FeedDetail = t.Object({
  feed: FeedShape,
  map: t.Array(MapShape),
  settings: t.Array(SettingShape, {
    description:
      'Settings and their origin: the configuration file, which takes precedence, or a command.',
  }),
  runs: t.Array(RunShape),
})
export type FeedDetail = (typeof FeedDetail)['static']
const Ran = t.Object({ run: RunShape })

const name = { name: t.string('Name of the feed.', 'ecb') }
const refusals = { 404: NestedProblem, 422: ValidationProblem }

export const runRow = (run: FeedRun) =>
  answerRow(RunShape, run, {
    took_ms: run.finishedAt === null ? null : Math.max(0, run.finishedAt - run.startedAt),
    kept_as_corrected: run.kept,
    problem:
      run.problemCode === null ? null : { code: run.problemCode, message: run.problem ?? '' },
  })

const feedRow = (view: FeedView) =>
  answerRow(
    FeedShape,
    { ...view.feed.publisher, ...view },
    {
      last_run: view.lastRun ? runRow(view.lastRun) : null,
      expected_by: isoOrNull(view.expectedBy),
    },
  )

/** Settings as the operator may see them: never the key. */
function settingRows({ settings: { values, origins } }: FeedView) {
  const names: [keyof FeedSetting, string][] = [
    ['key', 'key'],
    ['baseUrl', 'base_url'],
    ['codes', 'codes'],
    ['since', 'since'],
    ['rereadDays', 'reread'],
    ['license', 'license'],
  ]
  return names.flatMap(([property, wire]) => {
    const source = origins[property]
    if (!source) return []
    const value = property === 'key' ? '[redacted]' : String(values[property])
    return [{ name: wire, value: property === 'rereadDays' ? `${value}d` : value, source }]
  })
}

const day = (options: FieldOptions) =>
  checked(text(10, { format: 'date', ...options }), value =>
    parseDay(value) === undefined ? 'must be a day, such as 2026-01-31.' : undefined,
  )

const RunBody = body({
  since: omittable(
    day({
      description: 'Day from which everything is read again and compared.',
      examples: ['2026-01-01'],
    }),
  ),
  dry_run: omittable(flag({ description: 'Reads and compares without writing.' })),
  wait: omittable(flag({ description: 'Waits and returns the finished run.' })),
})

const lineMax = 2000
const lineText = (options: FieldOptions) =>
  checked(text(lineMax, options), value =>
    /\p{Cc}/u.test(value) ? 'must be text on one line.' : undefined,
  )

function addressFault(value: string): string | undefined {
  const url = URL.parse(value)
  const isPlain = url && /^https?:$/.test(url.protocol) && url.search === '' && url.username === ''
  return isPlain ? undefined : 'must be an http or https address.'
}

const SettingBody = body({
  key: omittable(lineText({ description: 'Stored encrypted and never returned.' })),
  base_url: omittable(checked(lineText({ examples: ['https://mirror.example'] }), addressFault)),
  codes: omittable(
    listOf(
      t.String({ examples: ['EUR_USD'] }),
      { nouns: 'codes and datasets', item: 'a code or dataset' },
      codesMax,
      code => code,
    ),
  ),
  since: omittable(day({ examples: ['1986-01-01'] })),
  reread: omittable(
    checked(text(5, { examples: ['60d'] }), value =>
      /^\d{1,4}d$/.test(value) ? undefined : 'must be days, such as 60d.',
    ),
  ),
  license: omittable(choice(['accept'])),
})

function settingOf({ key, reread, ...values }: ReturnType<typeof SettingBody.read>): FeedSetting {
  return {
    ...camelFields(values),
    ...(key !== undefined && { key: key.trim() }),
    ...(reread !== undefined && { rereadDays: Number.parseInt(reread, 10) }),
  }
}

/** Refuses targets without a series in the feed, by name: they would never get values. */
function refuseUnread(codes: readonly string[], { publisher, map }: FeedView['feed']): void {
  const unread = unreadOf(codes, map)
  if (unread.length === 0) return
  throw validationFailed(
    unread.map(code => ({
      field: 'codes',
      message: `codes: ${publisher.name} has no series for ${code}; its map has what it can be read into.`,
      value: code,
    })),
  )
}

/** Refuses an address when it is set rather than when the feed is read. */
function refuseTarget(baseUrl: string, checkTarget: Context['checkTarget']): void {
  const fault = checkTarget(baseUrl)
  if (fault === undefined) return
  throw refusedField('base_url', `base_url: ${fault}`, baseUrl)
}

/** Public sources for the operator: their state, and their controls. */
export const feedAdminOperations: Operations = [reads, runs, controls]

/** The feed with a name; 404 without one. */
function viewOf(feeds: Context['feeds'], feed: string): FeedView {
  const view = feeds.view(feed)
  if (!view) throw nameNotFound('feed', feed, feeds.names())
  return view
}

function reads({ feeds, catalogue }: Context) {
  const mapRows = ({ entries }: FeedView) =>
    entries.map(entry => {
      const series = 'code' in entry.target ? catalogue.named(entry.target.code) : undefined
      const extent = series && catalogue.extent(series)
      return {
        source_id: entry.sourceId,
        ...('code' in entry.target ? { code: entry.target.code } : { dataset: targetName(entry) }),
        unit: entry.unit,
        factor: entry.factor,
        from: isoOrNull(extent?.firstAt),
        to: isoOrNull(extent?.lastAt),
      }
    })

  return [
    operation('GET /admin/v1/feeds', {
      operationId: 'listFeeds',
      summary: 'List feeds',
      description: 'Returns every public feed, in order of preference, with its state.',
      access: operator,
      answers: t.Object({ feeds: t.Array(FeedShape) }),
      handle: () => ({ feeds: feeds.list().map(feedRow) }),
    }),
    operation('GET /admin/v1/feeds/:name', {
      operationId: 'getFeed',
      counted: /^(?:map|runs|expected_by|consecutive_failures|(?:last|next)_\w+)$/,
      summary: 'Get a feed',
      description: 'Returns a feed with its series map, coverage, settings and newest runs.',
      access: operator,
      params: name,
      answers: FeedDetail,
      handle: ({ params }) => {
        const view = viewOf(feeds, params.name)
        return {
          feed: feedRow(view),
          map: mapRows(view),
          settings: settingRows(view),
          runs: feeds.runs(params.name, runsShown, 0).map(runRow),
        }
      },
    }),
  ]
}

function runs({ feeds, clock, connections }: Context) {
  return [
    operation('POST /admin/v1/feeds/:name/test', {
      operationId: 'testFeed',
      summary: 'Test a feed',
      description:
        'Reads the newest value from the publisher and returns it, or the reason for the failure. Writes nothing.',
      access: operator,
      params: name,
      body: noBody,
      answers: {
        200: t.Object({
          ok: t.Boolean(),
          took_ms: t.integer('Milliseconds.'),
          sample: t.orNull(
            t.Object({
              source_id: t.String(),
              period: t.String({ examples: ['2026-08-18'] }),
              value: t.string('As it was sent.', '85.10'),
              unit: t.String(),
            }),
          ),
          problem: t.Optional(t.Object({ code: t.String(), message: t.String() })),
        }),
        ...refusals,
      },
      handle: async ({ params, request }) => {
        viewOf(feeds, params.name)
        connections.idle(request, 0)
        const startedAt = clock.monotonic()
        const outcome = await feeds.test(params.name)
        const tookMs = Math.round(clock.monotonic() - startedAt)
        if ('fault' in outcome) {
          const { code, message } = outcome.fault
          return { ok: false, took_ms: tookMs, sample: null, problem: { code, message } }
        }
        const { sourceId, period, value, unit } = outcome.sample
        const sample = { source_id: sourceId, period, value, unit }
        return { ok: true, took_ms: tookMs, sample }
      },
    }),
    operation('POST /admin/v1/feeds/:name/run', {
      operationId: 'runFeed',
      summary: 'Run a feed now',
      description:
        'Runs a feed immediately, also while it is paused. Returns 202 with the started run, or with `wait` or `dry_run` 200 with the finished run. Only one run at a time: while another is in progress the response is 422; with `wait` or `dry_run` the run waits for it. A feed that is off, or lacks its key or acceptance of its terms, is not contacted: the returned run states why and is not stored.',
      access: operator,
      idempotent: true,
      params: name,
      body: RunBody.schema,
      answers: { 200: Ran, 202: Ran },
      async prepare({ params, body: input, request }) {
        viewOf(feeds, params.name)
        const { since, dry_run: dryRun = false, wait = false } = RunBody.read(input)
        const options = { ...(since !== undefined && { since }), dryRun }
        const isWaitedFor = wait || options.dryRun
        if (isWaitedFor) connections.idle(request, 0)
        const run = isWaitedFor
          ? await feeds.run(params.name, options)
          : feeds.begin(params.name, options)
        return { run, isWaitedFor }
      },
      handle({ prepared: { run, isWaitedFor }, reply }) {
        if (!run)
          throw stateForbids('feed_not_run', 'The feed was not run: another run is in progress.')
        if (!isWaitedFor) reply.status = 202
        return { run: runRow(run) }
      },
    }),
    operation('GET /admin/v1/feeds/:name/runs', {
      operationId: 'listFeedRuns',
      summary: 'List the runs of a feed',
      description: 'Returns the runs of the feed, newest first.',
      access: operator,
      params: name,
      page: { max: 100 },
      answers: t.Object({ runs: t.Array(RunShape), meta: PageMetaShape }),
      handle: ({ params, page }) => {
        viewOf(feeds, params.name)
        return {
          runs: feeds.runs(params.name, page.perPage, page.offset).map(runRow),
          meta: page.meta(feeds.countRuns(params.name)),
        }
      },
    }),
  ]
}

function controls({ feeds, checkTarget }: Context) {
  const feedOf = (feed: string) => ({ feed: feedRow(viewOf(feeds, feed)) })

  const switching = (action: 'pause' | 'resume', summary: string, description: string) =>
    operation(`POST /admin/v1/feeds/:name/${action}`, {
      operationId: `${action}Feed`,
      summary,
      description,
      access: operator,
      params: name,
      body: noBody,
      answers: { 200: t.Object({ feed: FeedShape }), ...refusals },
      handle: ({ params }) => {
        const { state } = viewOf(feeds, params.name)
        // A stored pause would keep the feed from running once it is added.
        if (action === 'pause' && state === 'off')
          throw stateForbids('validation_failed', `${params.name} is off, so it cannot be paused.`)
        feeds[action](params.name)
        return feedOf(params.name)
      },
    })

  return [
    operation('PUT /admin/v1/feeds/:name', {
      operationId: 'updateFeed',
      summary: 'Enable and configure a feed',
      description:
        "Enables a feed and stores its settings in the database. Settings in the configuration file take precedence. `base_url` names a mirror on the public internet or in a network that `egress.allow` permits (422 otherwise). Because the feed's key is sent there, setting it requires an admin token with the role `all` (403 `ADMIN_ROLE_MISSING`).",
      access: operator,
      params: name,
      body: SettingBody.schema,
      answers: t.Object({ feed: FeedShape }),
      handle: ({ params, body: input, requestContext }) => {
        const { feed } = viewOf(feeds, params.name)
        const setting = settingOf(SettingBody.read(input))
        refuseUnread(setting.codes ?? [], feed)
        if (setting.baseUrl !== undefined) {
          // The key of the feed is sent there, also the one that the configuration has.
          requireArea(requestContext?.adminRole, 'service', 'base_url')
          refuseTarget(setting.baseUrl, checkTarget)
        }
        feeds.configure(params.name, setting)
        return feedOf(params.name)
      },
    }),
    switching(
      'pause',
      'Pause a feed',
      'Stops scheduled runs, also after a restart. Manual runs remain possible. A feed that is off cannot be paused (422).',
    ),
    switching('resume', 'Resume a feed', 'Resumes scheduled runs.'),
  ]
}
