import { explain } from '../../../../config/config.ts'
import { answerRow } from '../../../../http/answer/row.ts'
import { t } from '../../../../http/answer/schema.ts'
import { envelopeOf, success } from '../../../../http/operations/answer.ts'
import { operation } from '../../../../http/operations/operation.ts'

const Setting = t.Object({
  key: t.String({ examples: ['server.port'] }),
  value: t.string('Display value; secrets are masked.', '8470'),
  source: t.string('A flag, an environment variable, a line of a file, or `default`.', 'default'),
  description: t.string('What it does.'),
})
const Settings = envelopeOf({ settings: t.Array(Setting) })
export type Settings = (typeof Settings)['static']

/** Every setting in force, for the operator: what `wellhead config explain` prints. */
export const settingsAdminOperations = [
  operation('GET /admin/v1/settings', {
    operationId: 'listSettings',
    summary: 'List effective settings',
    description:
      'Returns every setting with its value, secrets masked, and its source. Settings are changed in the configuration and take effect at the next start.',
    access: { operator: 'service' },
    answers: Settings,
    handle: ({ at }) =>
      success({
        settings: explain(at.config).map(row => answerRow(Setting, row, {})),
      }),
  }),
]
