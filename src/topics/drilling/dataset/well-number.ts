import { type DatasetRow, refuse } from '../../../datasets/fields.ts'
import { type PermitState, permitStateOf } from '../../geography/math/us-states.ts'
import { type ApiNumber, parseApiNumber } from '../math/api-number.ts'
import { labelIn } from './well-fields.ts'

const right = 'write 10, 12 or 14 digits, with or without dashes, such as 42-329-40001'

/**
 * The number of a well, and the state that its first two digits say; one of those that are served.
 */
export function neededWellNumber(row: DatasetRow): { number: ApiNumber; state: PermitState } {
  const text = labelIn(row, 'api_number') ?? refuse('api_number', undefined, '', right)
  const number = parseApiNumber(text) ?? refuse('api_number', text, 'is not an API number', right)
  if (!number.state) refuse('api_number', text, 'begins with the digits of no state', right)
  const state = permitStateOf(number.state.code)
  return {
    number,
    state:
      state ??
      refuse(
        'api_number',
        text,
        `is of ${number.state.name}`,
        'wells of the 26 served states are taken',
      ),
  }
}
