import type { Operations } from '../../../http/operations/operation.ts'
import { deliveryOperations } from './deliveries.ts'

/** Scheduled e-mails with prices. */
export const operations: Operations = [deliveryOperations]
