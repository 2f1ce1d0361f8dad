import { t } from '../../../../http/answer/schema.ts'

const Moment = t.String({ format: 'date-time' })
export const ChangeShape = t.Object({
  code: t.String({ examples: ['WTI_USD'] }),
  observed_at: Moment,
  before: t.number('The current value, or the value before it in time.'),
  after: t.Number(),
  percent: t.orNull(t.Number()),
  is_new: t.boolean('Whether the time has no value, so `before` is the value before it in time.'),
})
export const ComparedSeries = t.Object({
  code: t.String({ examples: ['WTI_USD'] }),
  points: t.integer(),
  revised: t.integer(),
  reverted: t.integer('Revised values that become a value that they had before.'),
  from: Moment,
  to: Moment,
  recorded_between: t.integer('Range of recorded values.'),
  recorded: t.integer('Values of the whole series.'),
})
export const ComparisonShape = t.Object({
  inserted: t.integer('Times that have no value.'),
  revised: t.integer('Times that have another value.'),
  unchanged: t.integer(),
  held: t.integer('Values that the anomaly checks would hold.'),
  kept_as_corrected: t.integer(
    'Values that would be skipped because of an earlier decision of an operator; see `replace`.',
  ),
  biggest_changes: t.Array(ChangeShape),
  series: t.Array(ComparedSeries),
})
export type ComparisonShape = (typeof ComparisonShape)['static']
