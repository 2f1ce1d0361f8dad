import type { Box } from './geography.ts'

export interface UsState {
  /** Two letters. */
  code: string
  name: string
  /** The first two digits of the API numbers of its wells. */
  apiPrefix: string
}

/** A state whose well permits are served. */
export interface PermitState extends UsState {
  /** Around its land, to a hundredth of a degree. */
  box: Box
}

/** States in the order of their API numbers. */
const numbered =
  'AL Alabama,AZ Arizona,AR Arkansas,CA California,CO Colorado,CT Connecticut,DE Delaware,DC District of Columbia,FL Florida,GA Georgia,' +
  'ID Idaho,IL Illinois,IN Indiana,IA Iowa,KS Kansas,KY Kentucky,LA Louisiana,ME Maine,MD Maryland,MA Massachusetts,MI Michigan,' +
  'MN Minnesota,MS Mississippi,MO Missouri,MT Montana,NE Nebraska,NV Nevada,NH New Hampshire,NJ New Jersey,NM New Mexico,NY New York,' +
  'NC North Carolina,ND North Dakota,OH Ohio,OK Oklahoma,OR Oregon,PA Pennsylvania,RI Rhode Island,SC South Carolina,SD South Dakota,' +
  'TN Tennessee,TX Texas,UT Utah,VT Vermont,VA Virginia,WA Washington,WV West Virginia,WI Wisconsin,WY Wyoming,AK Alaska,HI Hawaii'

export const usStates: readonly UsState[] = numbered.split(',').map((text, i) => ({
  code: text.slice(0, 2),
  name: text.slice(3),
  apiPrefix: String(i + 1).padStart(2, '0'),
}))

/** South, north, west, east. Alaska reaches over the meridian of 180 degrees. */
const boxes: Readonly<Record<string, readonly [number, number, number, number]>> = {
  AK: [51.2, 71.45, 172.4, -129.97],
  AL: [30.14, 35.01, -88.48, -84.88],
  AR: [33, 36.5, -94.62, -89.64],
  CA: [32.53, 42.01, -124.48, -114.13],
  CO: [36.99, 41.01, -109.07, -102.04],
  FL: [24.39, 31.01, -87.64, -79.97],
  IL: [36.97, 42.51, -91.52, -87.01],
  IN: [37.77, 41.77, -88.1, -84.78],
  KS: [36.99, 40.01, -102.06, -94.58],
  KY: [36.49, 39.15, -89.58, -81.96],
  LA: [28.85, 33.02, -94.05, -88.75],
  MI: [41.69, 48.31, -90.42, -82.12],
  MS: [30.1, 35, -91.66, -88.09],
  MT: [44.35, 49.01, -116.06, -104.03],
  ND: [45.93, 49.01, -104.06, -96.55],
  NE: [39.99, 43.01, -104.06, -95.3],
  NM: [31.33, 37.01, -109.06, -103],
  NV: [35, 42.01, -120.01, -114.03],
  NY: [40.47, 45.02, -79.77, -71.78],
  OH: [38.4, 42.33, -84.83, -80.51],
  OK: [33.61, 37.01, -103.01, -94.43],
  PA: [39.71, 42.52, -80.53, -74.68],
  TX: [25.83, 36.51, -106.66, -93.5],
  UT: [36.99, 42.01, -114.06, -109.04],
  WV: [37.2, 40.64, -82.65, -77.71],
  WY: [40.99, 45.01, -111.06, -104.05],
}

const byCode = new Map(usStates.map(state => [state.code, state]))

/** The states whose well permits are served, by code. */
export const permitStates: readonly PermitState[] = Object.entries(boxes).map(
  ([code, [south, north, west, east]]) => ({
    ...byCode.get(code)!,
    box: { south, north, west, east },
  }),
)

const permitStateByCode = new Map(permitStates.map(state => [state.code, state]))

/** By its two letters in any case. */
export const permitStateOf = (code: string): PermitState | undefined =>
  permitStateByCode.get(code.trim().toUpperCase())

/**
 * Degrees by which a well may lie outside the box of its state: state waters, and boxes of land.
 */
export const offshoreDegrees = 0.3
