/** The places of generated permits. Counties and formations are real; operators are not. */
export interface PermitCounty {
  name: string
  /** In API numbers. */
  code: string
  latitude: number
  longitude: number
  /** Permits in relation to the other counties of the state. */
  weight: number
  formations: readonly string[]
}

export interface PermitState {
  code: string
  /** Permits on a working day where the catalogue has no series of them. */
  daily: number
  /** Share of wells that are drilled for gas. */
  gas: number
  counties: readonly PermitCounty[]
  /** The agency publishes a quarter at a time, so late that its list is always behind. */
  isQuarterly?: true
}

/** `State daily gas`, then counties: `name code latitude longitude weight formations`. */
const table = `
AK 1 0.1: North Slope|185|69.9|-150.8|8|Nanushuk,Kuparuk,Torok; Kenai Peninsula|122|60.5|-150.9|2|Tyonek,Beluga
AL 0.3 0.5: Tuscaloosa|125|33.3|-87.5|3|Pottsville; Escambia|053|31.15|-87.1|2|Smackover,Norphlet
AR 0.4 0.7: Conway|029|35.25|-92.7|2|Fayetteville; Columbia|027|33.2|-93.25|3|Smackover
CA 2.8 0.1: Kern|029|35.35|-119.4|8|Kern River,Tulare,Monterey; Fresno|019|36.2|-120.25|2|Temblor; Los Angeles|037|33.85|-118.2|1|Puente
CO 5 0.35: Weld|123|40.45|-104.6|8|Niobrara,Codell; Garfield|045|39.45|-107.9|2|Williams Fork; Adams|001|39.87|-104.35|1|Niobrara
FL 0.15 0.1: Santa Rosa|113|30.8|-87.1|2|Smackover; Collier|021|26.2|-81.35|1|Sunniland
IL 0.7 0.1: Fayette|051|39|-89.05|2|Benoist,Aux Vases; White|193|38.1|-88.2|2|St Louis; Marion|121|38.65|-88.9|1|Salem
IN 0.3 0.2: Gibson|051|38.3|-87.6|2|Cypress; Posey|129|38.05|-87.9|2|Aux Vases
KS 2.6 0.2: Haskell|081|37.55|-100.85|3|Morrow,Lansing; Ness|135|38.45|-99.9|3|Mississippian; Rooks|163|39.35|-99.3|2|Arbuckle
KY 0.7 0.4: Union|225|37.65|-87.95|2|Aux Vases; Pike|195|37.45|-82.4|2|Big Sandy; Christian|047|36.9|-87.5|1|New Albany
LA 3 0.8: De Soto|031|32.05|-93.75|7|Haynesville,Bossier; Caddo|017|32.55|-93.85|4|Haynesville,Cotton Valley; Plaquemines|075|29.5|-89.75|1|Miocene
MI 0.3 0.4: Otsego|137|45|-84.6|2|Antrim; Kalkaska|079|44.7|-85.1|1|Dundee
MS 0.4 0.2: Jasper|061|32|-89.1|2|Smackover,Cotton Valley; Wilkinson|157|31.15|-91.3|1|Tuscaloosa
MT 0.6 0.1: Richland|083|47.8|-104.55|4|Bakken,Three Forks; Fallon|025|46.35|-104.4|1|Red River
ND 4 0.02: McKenzie|053|47.75|-103.4|8|Bakken,Three Forks; Williams|105|48.35|-103.5|5|Bakken,Three Forks; Mountrail|061|48.2|-102.35|5|Bakken; Dunn|025|47.35|-102.6|4|Bakken,Three Forks
NE 0.3 0.1: Kimball|105|41.2|-103.7|2|J Sand; Red Willow|145|40.2|-100.45|2|Lansing
NM 11 0.15: Lea|025|32.75|-103.4|9|Bone Spring,Wolfcamp; Eddy|015|32.45|-104.3|8|Bone Spring,Wolfcamp,Delaware; San Juan|045|36.5|-108.2|1|Mancos
NV 0.15 0: Nye|023|38.4|-115.75|2|Garrett Ranch; Eureka|011|40.1|-116.2|1|Telegraph Canyon
NY 0.4 0.6: Chautauqua|013|42.3|-79.4|3|Medina; Cattaraugus|009|42.2|-78.7|2|Bradford; Steuben|101|42.25|-77.4|1|Trenton
OH 2 0.7: Belmont|013|40|-80.98|4|Utica,Point Pleasant; Harrison|067|40.3|-81.1|3|Utica; Carroll|019|40.55|-81.1|2|Utica
OK 6 0.35: Kingfisher|073|35.95|-97.95|4|Meramec,Osage; Grady|051|35.05|-97.9|4|Woodford,Springer; Canadian|017|35.55|-98|3|Woodford; Pittsburg|121|34.9|-95.75|1|Hartshorne
PA 3 0.97: Washington|125|40.2|-80.25|4|Marcellus,Utica; Greene|059|39.9|-80.2|4|Marcellus; Susquehanna|115|41.82|-75.8|4|Marcellus; Bradford|015|41.8|-76.5|2|Marcellus
TX 31 0.2: Midland|329|31.87|-102.03|12|Wolfcamp A,Spraberry,Wolfcamp B; Martin|317|32.3|-101.95|11|Spraberry,Wolfcamp A,Dean; Reeves|389|31.35|-103.65|10|Wolfcamp A,Bone Spring; Loving|301|31.85|-103.58|8|Wolfcamp A,Bone Spring; Howard|227|32.3|-101.43|8|Wolfcamp B,Spraberry; Upton|461|31.37|-102.04|6|Wolfcamp A,Spraberry; Karnes|255|28.9|-97.86|6|Eagle Ford,Austin Chalk; Webb|479|27.8|-99.35|5|Eagle Ford; La Salle|283|28.35|-99.1|4|Eagle Ford; Panola|365|32.15|-94.3|3|Haynesville,Cotton Valley
UT 2 0.1: Duchesne|013|40.25|-110.2|5|Uinta Butte,Wasatch,Green River; Uintah|047|40.1|-109.5|4|Green River
WV 1 0.95: Marshall|051|39.85|-80.65|3|Marcellus; Tyler|095|39.45|-80.9|3|Marcellus,Utica; Wetzel|103|39.6|-80.65|2|Marcellus
WY 9 0.25: Converse|009|43|-105.5|7|Turner,Niobrara,Parkman; Campbell|005|44.2|-105.5|5|Turner,Mowry; Sublette|035|42.65|-109.75|3|Lance; Laramie|021|41.3|-104.4|2|Codell`

const quarterly: readonly string[] = ['NV', 'NY']

function countyOf(text: string): PermitCounty {
  const [name, code, latitude, longitude, weight, formations] = text.trim().split('|') as [
    string,
    string,
    string,
    string,
    string,
    string,
  ]
  return {
    name,
    code,
    formations: formations.split(','),
    latitude: Number(latitude),
    longitude: Number(longitude),
    weight: Number(weight),
  }
}

export const statePlaces: readonly PermitState[] = table
  .trim()
  .split('\n')
  .map(line => {
    const [head, counties] = line.split(': ') as [string, string]
    const [code, daily, gas] = head.split(' ') as [string, string, string]
    return {
      code,
      daily: Number(daily),
      gas: Number(gas),
      counties: counties.split(';').map(countyOf),
      ...(quarterly.includes(code) && { isQuarterly: true as const }),
    }
  })

/** Companies that do not exist. */
export const operatorNames: readonly string[] = [
  'Juniper Ridge Operating, LLC',
  'Badland Petroleum, Inc.',
  'Copperline Energy, LP',
  'Sandhill Resources, LLC',
  'Mesa Verde Oil Co.',
  'Tallgrass Basin Partners, LP',
  'Ironwood Exploration, Inc.',
  'Blue Mesa Production, LLC',
  'Caprock Crossing Energy, LLC',
  'Larkspur Oil & Gas, Inc.',
  'Red Bluff Drilling Co.',
  'Windmill Draw Operating, LLC',
  'Saltgrass Energy, LP',
  'Pale Rider Petroleum, LLC',
  'Cedar Brake Resources, Inc.',
  'Longbow Natural Gas, LLC',
  'Stillwater Bend Energy, LP',
  'Hollow Creek Production Co.',
  'Quarter Circle Oil, LLC',
  'Switchback Exploration, LLC',
  'Greasewood Operating, Inc.',
  'Bittern Lake Energy, LP',
  'Marlstone Petroleum, LLC',
  'Thunder Draw Resources, Inc.',
  'Foxtail Energy Partners, LP',
  'Gypsum Hills Oil, LLC',
  'Aspen Gulch Operating, LLC',
  'Lone Pump Energy, Inc.',
  'Prairie Dog Creek Oil Co.',
  'Shale Lantern Gas, LLC',
  'Keystone Hollow Energy, LP',
  'Deer Leap Production, LLC',
  'Bright Angel Oil, Inc.',
  'Cottonwood Flat Resources, LP',
  'Wolf Tooth Energy, LLC',
  'Tumbleweed Drilling Co.',
]

export const leaseNames: readonly string[] =
  'Bradford,Sorenson,Holloway,Pruitt,Guidry,Yarbrough,McCandless,Tillery,Vance,Okafor,Lindqvist,Barragan,Culpepper,Dvorak,Estes,Fontenot,Gaskill,Hruska,Ibarra,Jessup,Kettleman,Lovelady,Moffat,Nygaard,Ortega,Pettibone,Quarles,Rademacher,Stovall,Truitt,Ulrich,Villarreal,Wainscott,Yoder,Zapata,Ashcroft,Beaumont,Castellano,Donnelly,Everhart'.split(
    ',',
  )
