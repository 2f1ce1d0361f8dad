import { jsonType } from '../../../http/answer/complete.ts'
import { answerRow } from '../../../http/answer/row.ts'
import { t } from '../../../http/answer/schema.ts'
import { serialised } from '../../../http/answer/serialised.ts'
import { wordParameter } from '../../../http/input/typed.ts'
import { envelope, envelopeOf, markFixtures, success } from '../../../http/operations/answer.ts'
import type { Context } from '../../../http/operations/context.ts'
import { type Operations, operation } from '../../../http/operations/operation.ts'
import { invalidParameter, Problem } from '../../../http/problem/problem.ts'
import { isoInstant, isoOrNull } from '../../../lib/time/instant.ts'
import { nextReleaseAt } from '../../calendars/math/releases.ts'
import { priceType } from '../../catalogue/math/catalogue.ts'
import { roundTo } from '../../prices/math/format.ts'
import {
  type QualityScores,
  type QualityStatus,
  qualityWeights,
  recommendations,
  weighted,
} from '../math/quality.ts'
import type { CodeQuality } from '../service/quality.ts'

const scoreDecimals = 2
const alertsMax = 20
const statuses: readonly QualityStatus[] = ['healthy', 'warning', 'critical']

const score = (description: string) => t.number(description, 98.4, { minimum: 0, maximum: 100 })
const scores = {
  completeness: score('Share of expected points that are present.'),
  timeliness: score(
    'Freshness of the newest observation, times the share of observations that arrived in time.',
  ),
  accuracy: score('Share of days without an anomaly.'),
  consistency: score('Share of days whose bar matches its observations.'),
}
const severity = t.oneOf(['critical', 'warning', 'info'])
const status = t.oneOf(
  ['healthy', 'warning', 'critical'],
  'By `quality_score`: healthy from 95, warning from 75, critical below.',
)
const code = t.String({ examples: ['WTI_USD'] })
const name = t.String({ examples: ['WTI Crude Oil'] })
const scope = t.string('Category of the code.', 'crude_oil')
const generatedAt = t.instant('When it was computed.')
const updatedAt = t.instant('When the newest observation was recorded.')

const Summary = t.object('DataQualitySummary', {
  overall_score: score('Mean of the scores of all codes with data; 0 without one.'),
  score: score('The same.'),
  overall_quality: t.string(
    'excellent from 95, good from 85, fair from 70, poor below; unknown without data.',
    'excellent',
  ),
  sources_monitored: t.integer('Sources of the codes with data.', 41),
  sources_with_issues: t.integer('Sources with at least one code that is not healthy.', 0),
  total_commodities: t.integer('Codes with data.', 884),
  total_issues: t.integer('Of severity critical and warning.', 3),
  last_updated: generatedAt,
  breakdown: t.Object(scores, { description: 'Means over the codes with data.' }),
  recent_alerts: t.objects(`Newest issues first, at most ${alertsMax}.`, {
    severity,
    message: t.String(),
    timestamp: t.instant('When the issue began.'),
  }),
})
const Row = t.object('DataQualityRow', {
  code,
  name,
  type: t.string('What kind of number the series carries.', 'spot_price'),
  scope,
  last_generated: generatedAt,
  last_updated: updatedAt,
  status,
  quality_score: score('0.3 completeness + 0.3 timeliness + 0.2 accuracy + 0.2 consistency.'),
  completeness: scores.completeness,
  accuracy: scores.accuracy,
})
const grades = [
  { grade: 'A', from: 95 },
  { grade: 'B', from: 85 },
  { grade: 'C', from: 70 },
  { grade: 'D', from: 0 },
] as const
const Issue = t.Object({
  severity,
  description: t.String(),
  affected_points: t.integer({ examples: [1] }),
  detected_at: t.instant('When the issue began.'),
})
const Report = t.object('DataQualityReport', {
  code,
  name,
  scope,
  period: t.Object({ start: t.String({ format: 'date' }), end: t.String({ format: 'date' }) }),
  status,
  quality_score: Row.properties.quality_score,
  completeness: scores.completeness,
  accuracy: scores.accuracy,
  metrics: t.Object({
    ...scores,
    expected_points: t.integer({ examples: [63] }),
    missing_points: t.integer({ examples: [1] }),
    late_updates: t.integer({ examples: [0] }),
    anomalies: t.integer({ examples: [0] }),
  }),
  issues: t.Array(Issue),
  recommendations: t.Array(t.String()),
  next_release_at: t.instantOrNull(
    'When the next value is released, for a series with release days.',
  ),
  generated_at: generatedAt,
  last_updated: updatedAt,
  report: t.Object(
    {
      code,
      name,
      grade: t.Union(
        grades.map(({ grade }) => t.Literal(grade)),
        { description: 'A from 95, B from 85, C from 70, D below.' },
      ),
      overall_score: Row.properties.quality_score,
      dimensions: t.Record(
        t.String(),
        t.Object({ score: score('0 to 100.'), value: t.String({ examples: ['98.4%'] }) }),
        { description: 'By the names of `metrics`.' },
      ),
    },
    { description: 'The grade with its scores.' },
  ),
})
export type QualityReport = (typeof Report)['static']

const definitions = `The assessment covers the last 90 days (364 for weekly and 1096 for monthly series), as far as the series reaches back. Quarantined days are excluded.

| number | definition |
|---|---|
| completeness | 100 x points there / points expected. Expected is one observation in each trading day of the code's market calendar, each week (from Monday) of a weekly and each month of a monthly series (or each release, where the series has days of release), up to the newest observation; after it what should have been published by now; once that is stale, up to now. Of a code that is quoted all day, times the part of the values of its cadence that are there in the sessions of the last four days, in the hours in which it usually has some; a stretch of up to three steps without one is not a gap |
| timeliness | 100 while the newest observation is current, 60 when delayed, 0 when stale, times the part of observations that were recorded while they were still current. Observations made before the first of them was recorded came as history and are not judged. 0 for a frozen series: eight days with a value or more at one value, and more than three times as many as ever before |
| accuracy | 100 x (1 - anomalies / days). An anomaly is a day whose close (of several values a day also high or low) is further than 8 s from the median of the five days around it; s is 1.4826 x the median of the changes from one day to the next, at least 0.4% of the median level and one unit of the last decimal. The newest two days wait for their neighbours. 0 while the level changes by the ratio of two units inside the window and stays there |
| consistency | 100 x (1 - inconsistent / days). A day is inconsistent when its bar's open, close and mean do not lie between low and high, or number, low and high are not those of its observations |
| quality_score | ${qualityWeights.completeness} completeness + ${qualityWeights.timeliness} timeliness + ${qualityWeights.accuracy} accuracy + ${qualityWeights.consistency} consistency |`

const rounded = (value: number): number => roundTo(value, scoreDecimals)

const meanScores = (all: readonly CodeQuality[]): QualityScores => {
  const mean = (key: keyof QualityScores) =>
    all.length === 0 ? 0 : all.reduce((sum, quality) => sum + quality.report[key], 0) / all.length
  return {
    completeness: mean('completeness'),
    timeliness: mean('timeliness'),
    accuracy: mean('accuracy'),
    consistency: mean('consistency'),
  }
}

const roundedScores = ({
  completeness,
  timeliness,
  accuracy,
  consistency,
}: QualityScores): QualityScores => ({
  completeness: rounded(completeness),
  timeliness: rounded(timeliness),
  accuracy: rounded(accuracy),
  consistency: rounded(consistency),
})

function qualityWord(overall: number, codes: number): string {
  if (codes === 0) return 'unknown'
  if (overall >= 95) return 'excellent'
  if (overall >= 85) return 'good'
  return overall >= 70 ? 'fair' : 'poor'
}

function summaryOf(all: readonly CodeQuality[], now: number): typeof Summary.static {
  const breakdown = meanScores(all)
  const overall = rounded(weighted(breakdown))
  const issues = all.flatMap(quality =>
    quality.report.issues
      .filter(issue => issue.severity !== 'info')
      .map(issue => ({ quality, issue })),
  )
  const sources = (qualities: readonly CodeQuality[]) =>
    new Set(qualities.map(quality => quality.series.source)).size
  return {
    overall_score: overall,
    score: overall,
    overall_quality: qualityWord(overall, all.length),
    sources_monitored: sources(all),
    sources_with_issues: sources(all.filter(quality => quality.report.status !== 'healthy')),
    total_commodities: all.length,
    total_issues: issues.length,
    last_updated: isoInstant(
      all.reduce(
        (newest, quality) => Math.max(newest, quality.generatedAt),
        all.length === 0 ? now : 0,
      ),
    ),
    breakdown: roundedScores(breakdown),
    recent_alerts: issues
      .sort((a, b) => b.issue.detectedAt - a.issue.detectedAt)
      .slice(0, alertsMax)
      .map(({ quality, issue }) => ({
        severity: issue.severity,
        message: `${quality.code}: ${issue.description}`,
        timestamp: isoInstant(issue.detectedAt),
      })),
  }
}

const rowOf = ({
  code,
  series,
  report,
  generatedAt,
  updatedAt,
}: CodeQuality): typeof Row.static => ({
  code,
  name: series.name,
  type: priceType(series.category, series.unit),
  scope: series.category,
  last_generated: isoInstant(generatedAt),
  last_updated: isoInstant(updatedAt),
  status: report.status,
  quality_score: rounded(report.score),
  completeness: rounded(report.completeness),
  accuracy: rounded(report.accuracy),
})

function reportOf(quality: CodeQuality, now: number): typeof Report.static {
  const { report } = quality
  const row = rowOf(quality)
  return {
    code: row.code,
    name: row.name,
    scope: row.scope,
    period: { start: report.fromOn, end: report.toOn },
    status: row.status,
    quality_score: row.quality_score,
    completeness: row.completeness,
    accuracy: row.accuracy,
    metrics: {
      ...roundedScores(report),
      expected_points: report.expectedPoints,
      missing_points: report.missingPoints,
      late_updates: report.lateUpdates,
      anomalies: report.anomalies,
    },
    issues: report.issues.map(issue => answerRow(Issue, issue, {})),
    recommendations: report.issues.map(issue => recommendations[issue.kind]),
    next_release_at: isoOrNull(nextReleaseAt(quality.series, now)),
    generated_at: row.last_generated,
    last_updated: row.last_updated,
    report: gradeOf(quality),
  }
}

function gradeOf({ code, series, report }: CodeQuality): (typeof Report.static)['report'] {
  const overall = rounded(report.score)
  return {
    code,
    name: series.name,
    grade: grades.find(({ from }) => overall >= from)?.grade ?? 'D',
    overall_score: overall,
    dimensions: Object.fromEntries(
      Object.entries(roundedScores(report)).map(([dimension, scored]) => [
        dimension,
        { score: scored, value: `${scored}%` },
      ]),
    ),
  }
}

function reportsRoute({ quality, marks }: Context) {
  /** The row of each judgement as JSON: a code is judged again when it may have changed. */
  const texts = new WeakMap<CodeQuality, string>()
  const textOf = (judged: CodeQuality): string =>
    texts.getOrInsertComputed(judged, () => JSON.stringify(rowOf(judged)))
  return [
    operation('GET /v1/data-quality/reports', {
      operationId: 'listDataQualityReports',
      summary: 'List data quality reports',
      description: `Returns one row for each code that has data, in catalogue order. ${definitions}`,
      tags: ['Catalogue'],
      access: { meter: true, heavy: true },
      query: {
        status: wordParameter(
          statuses,
          'Only codes of this status: healthy, warning or critical.',
          'warning',
        ),
      },
      answers: serialised(
        envelopeOf({ reports: t.Array(Row), count: t.integer({ examples: [884] }) }),
      ),
      handle: async ({ query, reply }) => {
        const status = query.status?.trim().toLowerCase()
        if (status && !(statuses as readonly string[]).includes(status)) {
          throw invalidParameter('status', query.status?.slice(0, 100), statuses)
        }
        const all = (await quality.all()).filter(row => !status || row.report.status === status)
        markFixtures(reply, marks, all)
        reply.headers['content-type'] = jsonType
        return `{"status":"success","data":{"reports":[${all.map(textOf).join(',')}],"count":${all.length}}}`
      },
    }),
  ]
}

/** The completeness, timeliness, accuracy and consistency of the stored series. */
export const dataQualityOperations: Operations = [
  operation('GET /v1/data-quality/summary', {
    operationId: 'getDataQualitySummary',
    summary: 'Get a data quality summary',
    description: `Returns scores over every code with data, and the newest issues. ${definitions}`,
    tags: ['Catalogue'],
    access: { meter: true, heavy: true },
    answers: envelope(Summary),
    handle: async ({ at: { quality, marks, now }, reply }) => {
      const all = await quality.all()
      markFixtures(reply, marks, all)
      return success(summaryOf(all, now()))
    },
  }),
  reportsRoute,
  operation('GET /v1/data-quality/reports/:code', {
    operationId: 'getDataQualityReport',
    summary: 'Get the data quality report of a code',
    description: `Returns the scores, counts and issues of one code, with a recommended action for each issue. A futures family is represented by its contract. ${definitions}`,
    tags: ['Catalogue'],
    access: { meter: true, heavy: true },
    params: {
      code: t.string('A code or alias.', 'WTI_USD'),
    },
    answers: envelope(Report),
    handle: ({ at: { catalogue, quality, marks, now }, params, reply }) => {
      const series = catalogue.named(params.code)
      if (!series)
        throw new Problem(
          'NOT_FOUND',
          `${params.code.slice(0, 100)} is not in the catalogue; GET /v1/commodities lists it.`,
        )
      const codeQuality = quality.of(series)
      if (!codeQuality)
        throw new Problem('DATA_NOT_AVAILABLE', `${series.code} has no data.`, {
          leg: series.code,
        })
      markFixtures(reply, marks, [codeQuality])
      return success(reportOf(codeQuality, now()))
    },
  }),
]
