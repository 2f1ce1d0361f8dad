import { rateAgeMaxMs, rateCrossings } from '../../prices/math/exchange.ts'
import { type Evaluate, type Scope, taken } from './reads.ts'

/**
 * Makes readers of the rate between two currencies; undefined where no series has it. `pair` returns
 * the code of an exchange rate, if there is one.
 */
export function createRateReader(
  pair: (from: string, to: string) => string | undefined,
  indexOf: (code: string) => number,
) {
  return (from: string, to: string): Evaluate | undefined => {
    const step = (a: string, b: string) => {
      const [direct, inverse] = [pair(a, b), pair(b, a)]
      return {
        direct: direct === undefined ? undefined : indexOf(direct),
        inverse: inverse === undefined ? undefined : indexOf(inverse),
      }
    }
    const paths = rateCrossings
      .map(between => [from, ...between, to])
      .filter(path => new Set(path).size === path.length)
      .map(path => path.slice(1).map((currency, i) => [path[i]!, currency] as const))
      .filter(path => path.every(([a, b]) => pair(a, b) ?? pair(b, a)))
      .map(path => path.map(([a, b]) => step(a, b)))
    if (paths.length === 0) return undefined
    return scope => {
      for (const path of paths) {
        const { recordedAt } = scope
        let rate: number | undefined = 1
        for (const { direct, inverse } of path) {
          const quoted = quotedRate(scope, direct)
          const turned = quoted === undefined ? quotedRate(scope, inverse) : undefined
          if (quoted !== undefined) rate *= quoted
          else if (turned !== undefined) rate /= turned
          else rate = undefined
          if (rate === undefined) break
        }
        if (rate !== undefined) return rate
        scope.recordedAt = recordedAt
      }
      return undefined
    }
  }
}

function quotedRate(scope: Scope, index: number | undefined): number | undefined {
  if (index === undefined) return undefined
  const row = scope.inputs[index]!.newest(scope.at, scope.at - rateAgeMaxMs)
  return row && row.value > 0 ? taken(scope, row) : undefined
}
