import { t } from '../../../http/answer/schema.ts'
import { envelopeOf, success } from '../../../http/operations/answer.ts'
import { type Operations, operation } from '../../../http/operations/operation.ts'
import { alignments } from '../math/syntax.ts'
import { filled, templates } from '../math/templates.ts'
import { ownFormulaOperations } from './own.ts'

const Template = t.object('FormulaTemplate', {
  id: t.String({ examples: ['crack_321'] }),
  name: t.String({ examples: ['3-2-1 crack spread'] }),
  description: t.String(),
  parameters: t.Array(
    t.Object({
      name: t.String({ examples: ['crude'] }),
      type: t.oneOf(['code', 'number', 'date', 'bands']),
      default: t.String({ examples: ['WTI_USD'] }),
      description: t.String(),
    }),
  ),
  formula: t.string('With parameters in braces.', '{product} - {crude}'),
  unit: t.string('Of the values.', 'barrel'),
  currency: t.string('Of the values.', 'USD'),
  align: t.oneOf(alignments),
  example: t.Object(
    {
      parameters: t.Record(t.String(), t.String()),
      formula: t.string('The formula with these parameters.', 'GASOLINE_USD - WTI_USD'),
      values: t.Array(
        t.Object({
          code: t.String({ examples: ['WTI_USD'] }),
          observed_at: t.String({ format: 'date-time' }),
          value: t.Number({ examples: [70] }),
        }),
      ),
      at: t.instant('Time of the result.'),
      result: t.Number({ examples: [22.4], description: 'In `unit` and `currency`.' }),
    },
    { description: 'From these values alone, the formula gives `result` at `at`.' },
  ),
})

export type FormulaTemplate = (typeof Template)['static']

/** Formulas over codes. */
export const operations: Operations = [
  operation('GET /v1/formulas/templates', {
    operationId: 'listFormulaTemplates',
    summary: 'List formula templates',
    description:
      'Returns formulas that are common in the trade: crack, spark and dark spreads, oil indexation, pricing windows, surcharge tables, marine fuel with emission costs, floors and caps. Fill in the parameters in braces and create the series with `POST /v1/formulas` or `POST /admin/v1/series`. Each has an example with numbers.',
    access: { meter: true },
    answers: { 200: envelopeOf({ templates: t.Array(Template) }) },
    handle: () =>
      success({
        templates: templates.map(({ example, ...template }) => ({
          ...template,
          parameters: [...template.parameters],
          align: 'last' as const,
          example: {
            parameters: Object.fromEntries(
              template.parameters.map(parameter => [parameter.name, parameter.default]),
            ),
            formula: filled({ example, ...template }),
            values: example.values.map(([code, at, value]) => ({ code, observed_at: at, value })),
            at: example.at,
            result: example.result,
          },
        })),
      }),
  }),
  ownFormulaOperations,
]
