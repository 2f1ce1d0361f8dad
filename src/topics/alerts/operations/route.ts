import { t } from '../../../http/answer/schema.ts'
import type { Caller } from '../../../http/gate/gate.ts'
import type { Context } from '../../../http/operations/context.ts'
import { notFound } from '../../../http/problem/problem.ts'
import type { Alert } from '../service/alerts.ts'
import { createAlertForms } from './form.ts'
import { createAlertRows } from './row.ts'

const kinds = ['standard_alerts', 'analytics_alerts'] as const
export const reading = { meter: true, feature: kinds } as const
export const writing = { ...reading, header: true } as const
export const alertParams = t.Object({
  id: t.string('Id of the alert.', '00000000-0000-4000-8000-000000000201'),
})

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
    /** An alert of the caller's account; unknown, malformed and foreign ids look the same. */
    own(id: string, caller: Caller): Alert {
      const alert = alerts.own(caller.key.account.account.id, id)
      if (!alert) throw notFound('alert', id)
      return alert
    },
  }
}

export type AlertContext = ReturnType<typeof createAlertContext>
