import type { Context } from '../../../http/operations/context.ts'
import type { Operation } from '../../../http/operations/operation.ts'
import { accountOperations } from './account.ts'
import { displayPreferenceOperations } from './display-preferences.ts'
import { organizationOperations } from './organizations.ts'
import { requestOperations } from './requests.ts'
import { secondFactorOperations } from './second-factor.ts'
import { sessionListOperations } from './session-list.ts'
import { sessionOperations } from './sessions.ts'
import { signUpAdminOperations, signUpOperations } from './sign-up.ts'

/** The account, its sessions and its organization. */
export function operationsOf(context: Context): Operation[] {
  return [
    ...accountOperations(context),
    ...sessionOperations(context),
    ...sessionListOperations,
    ...displayPreferenceOperations,
    ...requestOperations,
    ...signUpOperations,
    ...signUpAdminOperations,
    ...secondFactorOperations(context),
    ...organizationOperations(context),
  ]
}
