import { t } from '../../../http/answer/schema.ts'
import { owned } from '../../../http/gate/owned.ts'
import type { Caller } from '../../../http/gate/request-context.ts'
import type { Context } from '../../../http/operations/context.ts'
import type { Alert } from '../service/alerts.ts'
import { createAlertForms } from './form.ts'
import { createAlertRows } from './row.ts'

const kinds = ['standard_alerts', 'analytics_alerts'] as const
export const reading = { meter: true, feature: kinds } as const
export const writing = { ...reading, header: true } as const
export const alertParams = {
  id: t.string('Id of the alert.', '00000000-0000-4000-8000-000000000201'),
}

/** The dependencies of every route of alerts. */
export function createAlertContext({ alerts, catalogue, checkTarget, now }: Context) {
  const codeOf = (seriesId: number) => catalogue.byId(seriesId).code
  return {
    codeOf,
    rows: createAlertRows(alerts, codeOf),
    forms: createAlertForms({
      codeOf,
      checkTarget,
      seriesOf(code) {
        const resolved = catalogue.resolve(code, now())
        // A family of futures is watched as such, not as the contract that is in front today.
        return resolved && (catalogue.named(code) ?? resolved.series)
      },
      near: code => catalogue.suggest(code).map(series => series.code),
    }),
    own: (id: string, caller: Caller): Alert => owned(alerts.byId(id), caller, 'alert', id),
  }
}

export type AlertContext = ReturnType<typeof createAlertContext>
