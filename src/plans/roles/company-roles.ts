import { type PlanId, planIds } from '../tiers.ts'
import { type Role, roleOf } from './roles.ts'

/** The highest first. */
export const companyRoles = ['operator', 'admin', 'member', 'read-only'] as const
export type CompanyRole = (typeof companyRoles)[number]

export const companyRoleOf = (word: string): CompanyRole | undefined =>
  companyRoles.find(role => role === word)

/** The rights that a user's groups at the company's identity provider grant. */
export interface CompanyRights {
  isOperator: boolean
  role: Role
  /** Undefined: the plan stays. */
  plan: PlanId | undefined
}

/** The values of a claim that lists groups; undefined: the token does not have it. */
export function groupsOf(
  claims: Readonly<Record<string, unknown>>,
  path: string,
): string[] | undefined {
  const value = Object.hasOwn(claims, path)
    ? claims[path]
    : path
        .split('.')
        .reduce<unknown>(
          (at, name) =>
            typeof at === 'object' && at !== null && Object.hasOwn(at, name)
              ? (at as Record<string, unknown>)[name]
              : undefined,
          claims,
        )
  if (typeof value === 'string') return [value]
  if (Array.isArray(value)) return value.filter(each => typeof each === 'string')
  // Entra ID leaves out a list that is too long and says so: the person has none of the known groups.
  const { _claim_names: elsewhere, hasgroups: isLeftOut } = claims
  return isLeftOut === true || Object.hasOwn(Object(elsewhere), path) ? [] : undefined
}

/**
 * The rights of groups. Without the claim a person is a member; with it, a person of no known group
 * has none (undefined).
 */
export function companyRightsOf(
  groups: readonly string[] | undefined,
  roles: Readonly<Record<string, string>>,
  plans: Readonly<Record<string, string>>,
): CompanyRights | undefined {
  const wordsOf = (table: Readonly<Record<string, string>>) =>
    (groups ?? []).filter(group => Object.hasOwn(table, group)).map(group => table[group])
  const plan = planIds.findLast(id => wordsOf(plans).includes(id))
  const given = wordsOf(roles)
  const highest = groups === undefined ? 'member' : companyRoles.find(role => given.includes(role))
  if (highest === undefined) return undefined
  const isOperator = highest === 'operator'
  return { isOperator, role: isOperator ? 'admin' : roleOf(highest)!, plan }
}
