import { t } from 'elysia'
import { integer } from '../../../../http/answer/integer.ts'
import { integerOf } from '../../../../http/input/query.ts'
import { integerParameter, textParameter } from '../../../../http/input/typed.ts'
import { envelope, success } from '../../../../http/operations/answer.ts'
import type { Context } from '../../../../http/operations/context.ts'
import { operation } from '../../../../http/operations/operation.ts'

const limitMax = 1000
const limitUsual = 200
const textMax = 100

const Lines = envelope(
  t.Object({
    lines: t.Array(
      t.Object(
        {
          number: integer({ description: 'Rises by one from line to line.', examples: [41] }),
          line: t.String({ description: 'As it was written.' }),
        },
        { title: 'LogLine' },
      ),
    ),
    last: integer({
      description: 'Of the newest line of all; `after` it come those that are new. 0: none.',
      examples: [42],
    }),
  }),
)

/** What this process has logged lately. */
export const logAdminOperations = ({ logTail }: Partial<Pick<Context, 'logTail'>>) => [
  operation('GET /admin/v1/logs', {
    operationId: 'listLogLines',
    summary: 'The newest lines of the log',
    description: `The last ${limitMax} lines that this process has logged, oldest first; ask again with \`after\` for what is new. Tokens, secrets and passwords were taken out when they were written. A start begins anew.`,
    access: { operator: 'service' },
    query: {
      after: integerParameter({
        minimum: 0,
        default: 0,
        description: 'Only lines with a higher number: `last` of the answer before.',
        examples: [42],
      }),
      contains: textParameter({
        maxLength: textMax,
        description: 'Only lines with this in them, in any case of letters.',
        examples: ['warn'],
      }),
      limit: integerParameter({
        minimum: 1,
        maximum: limitMax,
        default: limitUsual,
        description: 'At most so many, the newest.',
        examples: [200],
      }),
    },
    answers: { 200: Lines },
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
