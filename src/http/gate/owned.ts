import { notFound } from '../problem/problem.ts'
import { accountIdOf, type Caller } from './request-context.ts'

/** An item of the caller's account. Unknown, malformed and foreign ids are refused alike. */
export function owned<Item extends { accountId: string }>(
  item: Item | undefined,
  caller: Caller,
  noun: string,
  id: string,
): Item {
  if (item?.accountId !== accountIdOf(caller)) throw notFound(noun, id)
  return item
}
