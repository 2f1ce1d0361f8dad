interface Weighted {
  /** In lower case. */
  name: string
  weight: number
}

/** The names of a header such as `Accept`, each with its weight (RFC 9110). */
export function weightedNames(header: string): Weighted[] {
  return header.split(',').map(part => {
    const [name = '', ...parameters] = part.split(';').map(text => text.trim().toLowerCase())
    const weight = parameters.find(parameter => parameter.startsWith('q='))
    return { name, weight: weight === undefined ? 1 : Number(weight.slice(2)) }
  })
}

/**
 * The media type that an `Accept` header prefers (RFC 9110): that with the highest weight, and among
 * equals the one that is named first. One that only a wildcard covers comes after those that are
 * named. Undefined: it accepts none of them.
 */
export function preferredType<Type extends string>(
  header: string | null,
  offered: readonly Type[],
): Type | undefined {
  const ranges = weightedNames(header ?? '')
  const accepted = offered.flatMap(type => {
    const covering = [type, `${type.slice(0, type.indexOf('/'))}/*`, '*/*']
    const place = covering
      .map(name => ranges.findIndex(range => range.name === name))
      .find(index => index >= 0)
    if (place === undefined) return []
    const { name, weight } = ranges[place]!
    return weight > 0 ? [{ type, isNamed: name === type, weight, place }] : []
  })
  const named = accepted.filter(({ isNamed }) => isNamed)
  const [best] = (named.length > 0 ? named : accepted).toSorted(
    (a, b) => b.weight - a.weight || a.place - b.place,
  )
  return best?.type
}
