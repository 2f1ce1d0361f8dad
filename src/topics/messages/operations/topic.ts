import type { Operations } from '../../../http/operations/operation.ts'
import { notificationOperations } from './notifications.ts'
import { phoneOperations } from './phone.ts'
import { smsOperations } from './sms.ts'

export const operations: Operations = [phoneOperations, smsOperations, notificationOperations]
