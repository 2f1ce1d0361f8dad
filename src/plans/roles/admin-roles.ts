export const adminRoles = ['read', 'data', 'people', 'all'] as const
export type AdminRole = (typeof adminRoles)[number]

/**
 * The areas of the operator's requests: prices, series and feeds; accounts, keys and payments; the
 * service itself, with its tokens and messages.
 */
export const operatorAreas = ['data', 'people', 'service'] as const
export type OperatorArea = (typeof operatorAreas)[number]

/** The areas that a role checks and changes. */
const matrix: Readonly<
  Record<AdminRole, { sees: readonly OperatorArea[]; changes: readonly OperatorArea[] }>
> = {
  read: { sees: operatorAreas, changes: [] },
  data: { sees: ['data', 'service'], changes: ['data'] },
  people: { sees: ['people', 'service'], changes: ['people'] },
  all: { sees: operatorAreas, changes: operatorAreas },
}

/** Whether a role may check an area, or change something there. */
export const mayOperate = (role: AdminRole, area: OperatorArea, changes: boolean): boolean =>
  matrix[role][changes ? 'changes' : 'sees'].includes(area)

/** The roles that permit a request in an area. */
export const rolesThatMay = (area: OperatorArea, changes: boolean): AdminRole[] =>
  adminRoles.filter(role => mayOperate(role, area, changes))
