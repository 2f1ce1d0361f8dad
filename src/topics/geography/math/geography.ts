/** Degrees, WGS 84: south and west are negative. */
export interface Place {
  latitude: number
  longitude: number
}

/** Degrees; where `west` is greater than `east` it crosses the meridian of 180 degrees. */
export interface Box {
  south: number
  north: number
  west: number
  east: number
}

export interface Circle extends Place {
  radiusMiles: number
}

/** The mean radius of the Earth, 6371.0088 km (IUGG). */
const earthRadiusMiles = 3958.7613

const radians = (degrees: number) => (degrees * Math.PI) / 180
const degrees = (angle: number) => (angle * 180) / Math.PI

/**
 * Great-circle distance by the haversine formula, on a sphere of the Earth's mean radius: within
 * 0.6% of an ellipsoid's.
 */
export function milesBetween(a: Place, b: Place): number {
  const [north, east] = [radians(b.latitude - a.latitude), radians(b.longitude - a.longitude)]
  const h =
    Math.sin(north / 2) ** 2 +
    Math.cos(radians(a.latitude)) * Math.cos(radians(b.latitude)) * Math.sin(east / 2) ** 2
  return 2 * earthRadiusMiles * Math.asin(Math.min(1, Math.sqrt(h)))
}

/** More than rounding loses, in degrees: a centimetre. */
const slack = 1e-7

/** The smallest box around a circle; with a pole inside, all meridians. */
export function boxAround({ latitude, longitude, radiusMiles }: Circle): Box {
  const angle = radiusMiles / earthRadiusMiles
  const [south, north] = [latitude - degrees(angle) - slack, latitude + degrees(angle) + slack]
  if (south <= -90 || north >= 90)
    return { south: Math.max(-90, south), north: Math.min(90, north), west: -180, east: 180 }
  // A meridian touches the circle where the angle at the pole is largest, which is nearer to the
  // pole than the centre.
  const reach =
    degrees(Math.asin(Math.min(1, Math.sin(angle) / Math.cos(radians(latitude))))) + slack
  if (reach >= 180) return { south, north, west: -180, east: 180 }
  const [west, east] = [longitude - reach, longitude + reach]
  return {
    south,
    north,
    west: west < -180 ? west + 360 : west,
    east: east >= 180 ? east - 360 : east,
  }
}

/**
 * The longitudes of a box as one span, or as two where it crosses the meridian of 180 degrees; both
 * ends inside.
 */
export const spansOf = ({ west, east }: Box): [west: number, east: number][] =>
  west <= east
    ? [[west, east]]
    : [
        [west, 180],
        [-180, east],
      ]

/** Whether a place is in a box or at most `margin` degrees outside. */
export function isInside(box: Box, { latitude, longitude }: Place, margin = 0): boolean {
  if (latitude < box.south - margin || latitude > box.north + margin) return false
  return spansOf(box).some(
    ([west, east]) => longitude >= west - margin && longitude <= east + margin,
  )
}
