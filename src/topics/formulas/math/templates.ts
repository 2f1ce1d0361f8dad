/** A place in the text of a template that a caller fills. */
export interface TemplateParameter {
  name: string
  type: 'code' | 'number' | 'date' | 'bands'
  default: string
  description: string
}

/** A formula of the trade, with numbers that it was checked with. */
export interface Template {
  id: string
  name: string
  description: string
  parameters: readonly TemplateParameter[]
  /** The formula, with its parameters in braces. */
  formula: string
  unit: string
  currency: string
  /** From these values alone, the formula with its defaults gives `result` at `at`. */
  example: {
    values: readonly (readonly [code: string, observedAt: string, value: number])[]
    at: string
    result: number
  }
}

const code = (name: string, value: string, description: string): TemplateParameter => ({
  name,
  type: 'code',
  default: value,
  description,
})
const number = (name: string, value: string, description: string): TemplateParameter => ({
  name,
  type: 'number',
  default: value,
  description,
})

const gasoline = code('gasoline', 'GASOLINE_USD', 'Gasoline.')
const distillate = code('distillate', 'HEATING_OIL_USD', 'Distillate.')
const crude = code('crude', 'WTI_USD', 'Crude oil.')
const power = code('power', 'POWER_DE_EUR', 'Power.')
const carbon = code('carbon', 'EU_CARBON_EUR', 'Emission allowances, per tonne of CO2.')
const oil = code('oil', 'BRENT_CRUDE_USD', 'The oil that the contract names.')
const slope = number('slope', '0.1485', 'Slope of the contract.')
const constant = number('constant', '0.5', 'Constant of the contract.')

const day = '2026-11-10T00:00:00Z'
type ExampleValues = Template['example']['values']

/** Values of one day. */
const onDay = (prices: Readonly<Record<string, number>>): ExampleValues =>
  Object.entries(prices).map(([name, price]) => [name, day, price])
const products = onDay({ GASOLINE_USD: 2.1, HEATING_OIL_USD: 2.4, WTI_USD: 70 })
const monthly = (prices: readonly number[], firstMonth: number): ExampleValues =>
  prices.map((price, i) => [
    'BRENT_CRUDE_USD',
    `2026-${String(firstMonth + i).padStart(2, '0')}-15T00:00:00Z`,
    price,
  ])

/** Formulas to begin with. */
export const templates: readonly Template[] = [
  {
    id: 'crack_321',
    name: '3-2-1 crack spread',
    description: 'Two barrels of gasoline and one of distillate from three of crude.',
    parameters: [gasoline, distillate, crude],
    formula: '(2*unit({gasoline}, barrel) + unit({distillate}, barrel))/3 - {crude}',
    unit: 'barrel',
    currency: 'USD',
    example: { values: products, at: day, result: 22.4 },
  },
  {
    id: 'crack_211',
    name: '2-1-1 crack spread',
    description: 'One barrel of gasoline and one of distillate from two of crude.',
    parameters: [gasoline, distillate, crude],
    formula: '(unit({gasoline}, barrel) + unit({distillate}, barrel))/2 - {crude}',
    unit: 'barrel',
    currency: 'USD',
    example: { values: products, at: day, result: 24.5 },
  },
  {
    id: 'clean_spark',
    name: 'Clean spark spread',
    description: 'Power less gas at an efficiency, less carbon at an intensity.',
    parameters: [
      power,
      code('gas', 'DUTCH_TTF_EUR', 'Gas, per MWh.'),
      number('efficiency', '0.49', 'MWh of power from one of gas.'),
      carbon,
      number('intensity', '0.37', 'Tonnes of CO2 per MWh of power.'),
    ],
    formula: '{power} - {gas}/{efficiency} - {intensity}*plain({carbon})',
    unit: 'mwh',
    currency: 'EUR',
    example: {
      values: onDay({ POWER_DE_EUR: 90, DUTCH_TTF_EUR: 29.4, EU_CARBON_EUR: 70 }),
      at: day,
      result: 4.1,
    },
  },
  {
    id: 'clean_dark',
    name: 'Clean dark spread',
    description: 'Power less coal at its heat content and an efficiency, less carbon.',
    parameters: [
      power,
      code('coal', 'COAL_ARA_USD', 'Coal, per tonne.'),
      number('heat_content', '6.978', 'MWh of heat in a tonne of coal.'),
      number('efficiency', '0.38', 'MWh of power from one of heat.'),
      carbon,
      number('intensity', '0.9', 'Tonnes of CO2 per MWh of power.'),
    ],
    formula:
      '{power} - plain(fx({coal}, EUR))/{heat_content}/{efficiency} - {intensity}*plain({carbon})',
    unit: 'mwh',
    currency: 'EUR',
    example: {
      values: onDay({ POWER_DE_EUR: 130, COAL_ARA_USD: 110, EUR_USD: 1.1, EU_CARBON_EUR: 70 }),
      at: day,
      result: 29.28749000618484,
    },
  },
  {
    id: 'oil_indexation_301',
    name: 'Oil indexation 3-0-1',
    description: 'Gas by the mean of oil over the three months before, set each month.',
    parameters: [oil, slope, constant],
    formula: '{slope}*plain(avg({oil}, 3 months, lag 0 months, every 1 month)) + {constant}',
    unit: 'mmbtu',
    currency: 'USD',
    example: {
      values: [...monthly([66, 68, 70], 8), ...onDay({ BRENT_CRUDE_USD: 99 })],
      at: day,
      result: 10.598,
    },
  },
  {
    id: 'oil_indexation_603',
    name: 'Oil indexation 6-0-3',
    description: 'Gas by the mean of oil over the six months before, set each quarter.',
    parameters: [oil, slope, constant],
    formula: '{slope}*plain(avg({oil}, 6 months, lag 0 months, every 3 months)) + {constant}',
    unit: 'mmbtu',
    currency: 'USD',
    example: {
      values: [...monthly([60, 62, 64, 66, 68, 70, 90], 4), ...onDay({ BRENT_CRUDE_USD: 99 })],
      at: day,
      result: 10.1525,
    },
  },
  {
    id: 'pricing_window',
    name: 'Pricing window',
    description: 'Mean of the closes around the date of a bill of lading.',
    parameters: [
      oil,
      { name: 'date', type: 'date', default: '2026-11-10', description: 'Bill of lading.' },
      number('before', '2', 'Closes before the date.'),
      number('after', '2', 'Closes after the date.'),
    ],
    formula: 'around({oil}, {date}, {before}, {after})',
    unit: 'barrel',
    currency: 'USD',
    example: {
      values: [70, 71, 73, 74, 77, 90].map((value, i) => [
        'BRENT_CRUDE_USD',
        `2026-11-${String(8 + i).padStart(2, '0')}T00:00:00Z`,
        value,
      ]),
      at: '2026-11-12T00:00:00Z',
      result: 73,
    },
  },
  {
    id: 'surcharge_table',
    name: 'Fuel surcharge table',
    description: 'A surcharge per mile by the band that a diesel index is in.',
    parameters: [
      code('diesel', 'DIESEL_US_NATIONAL_USD', 'The diesel index.'),
      {
        name: 'bands',
        type: 'bands',
        default: '[0, 3, 0.10], [3, 3.5, 0.15], [3.5, 4, 0.20], [4, 100, 0.25]',
        description: 'From, to and surcharge of each band; the end is not in it.',
      },
    ],
    formula: 'table({diesel}, {bands})',
    unit: 'mile',
    currency: 'USD',
    example: { values: onDay({ DIESEL_US_NATIONAL_USD: 3.5 }), at: day, result: 0.2 },
  },
  {
    id: 'vlsfo_ets',
    name: 'VLSFO with EU ETS',
    description: 'Very low sulphur fuel oil and the allowances for 3.114 t CO2 per tonne.',
    parameters: [
      code('fuel', 'VLSFO_RTM_USD', 'Fuel, per tonne.'),
      number('phase_in', '0.7', 'Share of emissions that needs allowances.'),
      carbon,
    ],
    formula: '{fuel} + 3.114*{phase_in}*plain(fx({carbon}, USD))',
    unit: 'MT',
    currency: 'USD',
    example: {
      values: onDay({ VLSFO_RTM_USD: 500, EUR_USD: 1.1, EU_CARBON_EUR: 70 }),
      at: day,
      result: 667.8446,
    },
  },
  {
    id: 'floor_cap',
    name: 'Price with floor and cap',
    description: 'A contract price that stays between a floor and a cap.',
    parameters: [
      code('price', 'DUTCH_TTF_EUR', 'The price.'),
      number('floor', '20', 'Lowest price.'),
      number('cap', '50', 'Highest price.'),
    ],
    formula: 'max({floor}, min({price}, {cap}))',
    unit: 'mwh',
    currency: 'EUR',
    example: { values: onDay({ DUTCH_TTF_EUR: 60 }), at: day, result: 50 },
  },
]

/** The text of a template with its parameters put in; those that are not given have their defaults. */
export const filled = (
  { formula, parameters }: Template,
  given: Readonly<Record<string, string>> = {},
): string =>
  parameters.reduce(
    (text, parameter) =>
      text.replaceAll(`{${parameter.name}}`, given[parameter.name] ?? parameter.default),
    formula,
  )
