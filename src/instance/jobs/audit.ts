import type { Audit } from '../../topics/operator/service/audit.ts'
import type { Job } from './job.ts'

/** Takes out entries of the audit trail that are older than they are to be kept. */
export const createAuditJob = (audit: Audit): Job => ({
  name: 'audit trail',
  pass: () => audit.prune(),
})
