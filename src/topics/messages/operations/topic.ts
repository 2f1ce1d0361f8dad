import type { Context } from '../../../http/operations/context.ts'
import type { Operation } from '../../../http/operations/operation.ts'
import { notificationOperations } from './notifications.ts'
import { phoneOperations } from './phone.ts'
import { smsOperations } from './sms.ts'

/** Phones, text messages and notifications. */
export function operationsOf(context: Context): Operation[] {
  return [...phoneOperations, ...smsOperations(context), ...notificationOperations]
}
