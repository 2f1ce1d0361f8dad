import type { Operations } from '../../../http/operations/operation.ts'
import { accountOperations } from './account.ts'
import { displayPreferenceOperations } from './display-preferences.ts'
import { organizationOperations } from './organizations.ts'
import { requestOperations } from './requests.ts'
import { secondFactorOperations } from './second-factor.ts'
import { sessionListOperations } from './session-list.ts'
import { sessionOperations } from './sessions.ts'
import { signUpAdminOperations, signUpOperations } from './sign-up.ts'

/** The account, its sessions and its organization. */
export const operations: Operations = [
  accountOperations,
  sessionOperations,
  sessionListOperations,
  displayPreferenceOperations,
  requestOperations,
  signUpOperations,
  signUpAdminOperations,
  secondFactorOperations,
  organizationOperations,
]
