import { t } from '../../../../http/answer/schema.ts'
import { integerOf } from '../../../../http/input/query.ts'
import { integerParameter, textParameter } from '../../../../http/input/typed.ts'
import { envelopeOf, success } from '../../../../http/operations/answer.ts'
import type { Context } from '../../../../http/operations/context.ts'
import { operation } from '../../../../http/operations/operation.ts'

const limitMax = 1000
const limitUsual = 200
const textMax = 100

const Lines = envelopeOf({
  lines: t.Array(
    t.object('LogLine', {
      number: t.integer('Increases by one per line.', 41),
      line: t.string('As it was written.'),
    }),
  ),
  last: t.integer('Number of the newest line, for `after`; 0 if there are none.', 42),
})
export type LogLines = (typeof Lines)['static']

/** The latest log lines of this process. */
export const logAdminOperations = ({ logTail }: Partial<Context>) => [
  operation('GET /admin/v1/logs', {
    operationId: 'listLogLines',
    summary: 'List the newest log lines',
    description: `Returns the last ${limitMax} log lines of this process, oldest first; use \`after\` to get new lines. Tokens, secrets and passwords are redacted. The list is cleared at each start.`,
    access: { operator: 'service' },
    query: {
      after: integerParameter(
        'Only lines with a higher number: `last` of the previous response.',
        42,
        { minimum: 0, default: 0 },
      ),
      contains: textParameter('Only lines that contain this text, ignoring case.', 'warn', {
        maxLength: textMax,
      }),
      limit: integerParameter('Maximum number of lines, the newest ones.', 200, {
        minimum: 1,
        maximum: limitMax,
        default: limitUsual,
      }),
    },
    answers: Lines,
    handle: ({ query }) => {
      const after = integerOf('after', query.after, 0, 0, Number.MAX_SAFE_INTEGER)
      const limit = integerOf('limit', query.limit, limitUsual, 1, limitMax)
      const part = query.contains?.toLowerCase()
      const last = logTail?.last ?? 0
      const lines = (logTail?.after(after, limitMax) ?? [])
        .filter(({ line }) => part === undefined || line.toLowerCase().includes(part))
        .slice(-limit)
      return success({ lines, last })
    },
  }),
]
