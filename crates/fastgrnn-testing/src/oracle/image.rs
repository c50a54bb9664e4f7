//! Section 8: a network as an image.

use super::network::{Layer, Matrix, Network, Product};

/// Which of the first four forms a matrix is written in.
#[derive(Clone, Debug)]
pub enum Forms {
    /// The smallest, as the page asks.
    Smallest,
    /// These in turn, so that every reader is exercised; 0 where one cannot hold the matrix.
    InTurn(Vec<u8>),
}

struct Writer<'a> {
    bytes: Vec<u8>,
    forms: &'a Forms,
    matrices: usize,
}

/// The image of a network, whether or not a reader should accept it.
pub fn write(network: &Network, forms: &Forms) -> Vec<u8> {
    let mut writer = Writer { bytes: Vec::new(), forms, matrices: 0 };
    writer.bytes.extend(b"FG");
    let extended = network.needs_version_3();
    let version = if extended { 3 } else { 1 + u8::from(network.vectors.is_some()) };
    writer.bytes.extend([version, network.layers.len() as u8]);
    writer.bytes.extend([0; 6]); // length and check sum, sealed below
    writer.unsigned(&[network.width() as u16, network.head.a.rows as u16]);
    writer.bytes.push(network.meaning);
    if extended {
        writer.bytes.extend([u8::from(network.vectors.is_some()), network.frames, network.stride]);
    }
    writer.bytes.push(network.s_x);
    match &network.vectors {
        Some(vectors) => {
            writer.bytes.push(u8::from(vectors.tied));
            writer.unsigned(&[vectors.table.rows as u16]);
            writer.bytes.extend(vectors.table.entries.iter().map(|entry| *entry as u8));
        }
        None => {
            writer.bytes.push(network.s_n);
            writer.signed(&network.offsets);
            writer.unsigned(&network.factors);
        }
    }
    for layer in &network.layers {
        writer.layer(layer, extended);
    }
    if !network.vectors.as_ref().is_some_and(|vectors| vectors.tied) {
        writer.matrix(&network.head.a, network.head.m.is_some());
    }
    if extended {
        writer.unsigned(&[network.head.m.unwrap_or(0)]);
        writer.bias_bytes(network.head.byte_biases);
    }
    writer.bytes.extend([network.head.s_o, network.head.f_s as u8]);
    writer.biases(&network.head.biases, network.head.byte_biases);
    if network.reads_the_table() {
        writer.unsigned(&network.table);
    }
    seal(&mut writer.bytes);
    writer.bytes
}

/// Makes length and check sum right for the bytes as they are.
pub fn seal(image: &mut [u8]) {
    let length = image.len() as u32;
    image[4..8].copy_from_slice(&length.to_le_bytes());
    reseal(image);
}

/// Makes the check sum right and leaves the length.
pub fn reseal(image: &mut [u8]) {
    image[8..10].fill(0);
    let sum = crc16(image);
    image[8..10].copy_from_slice(&sum.to_le_bytes());
}

/// Bit by bit: polynomial 0x1021, start 0xFFFF, most significant bit first, no final change.
pub fn crc16(bytes: &[u8]) -> u16 {
    let mut register = 0xFFFF_u16;
    for byte in bytes {
        for bit in (0..8).rev() {
            let feedback = (register >> 15) ^ u16::from((byte >> bit) & 1);
            register <<= 1;
            if feedback == 1 {
                register ^= 0x1021;
            }
        }
    }
    register
}

impl Writer<'_> {
    fn signed(&mut self, values: &[i16]) {
        self.bytes.extend(values.iter().flat_map(|value| value.to_le_bytes()));
    }

    fn unsigned(&mut self, values: &[u16]) {
        self.bytes.extend(values.iter().flat_map(|value| value.to_le_bytes()));
    }

    fn bias_bytes(&mut self, byte_biases: bool) {
        self.bytes.push(if byte_biases { 1 } else { 2 });
    }

    fn biases(&mut self, values: &[i16], byte_biases: bool) {
        if byte_biases {
            let byte = |value: &i16| i8::try_from(*value).expect("a bias of 8 bits") as u8;
            self.bytes.extend(values.iter().map(byte));
        } else {
            self.signed(values);
        }
    }

    fn layer(&mut self, layer: &Layer, extended: bool) {
        let gate = layer.cell.gate().map_or(255, |gate| gate as u8);
        self.bytes.extend([layer.cell.code(), gate, layer.update as u8, u8::from(layer.start.is_some())]);
        self.unsigned(&[layer.hidden as u16, layer.w.rank() as u16, layer.u.rank() as u16]);
        self.bytes.extend([layer.f_a, layer.f_h, layer.cell.f_c(), layer.s_b]);
        for product in [&layer.w, &layer.u] {
            match product {
                Product::Full { s1, .. } => self.bytes.extend([0, *s1]),
                Product::Low { s2, s1, .. } => self.bytes.extend([*s2, *s1]),
                Product::Diagonal { s1, .. } => self.bytes.extend([0, *s1]),
                Product::Absent => self.bytes.extend([0, 0]),
            }
        }
        if extended {
            self.unsigned(&[layer.m_w.unwrap_or(0), layer.m_u.unwrap_or(0)]);
            self.bias_bytes(layer.byte_biases);
        }
        for (product, m) in [(&layer.w, layer.m_w), (&layer.u, layer.m_u)] {
            match product {
                Product::Full { a, .. } => self.matrix(a, m.is_some()),
                Product::Low { a1, a2, .. } => {
                    self.matrix(a1, m.is_some());
                    self.matrix(a2, m.is_some());
                }
                Product::Diagonal { a, .. } => {
                    self.form(4, &a.iter().map(|entry| *entry as u8).collect::<Vec<_>>());
                }
                Product::Absent => self.form(5, &[]),
            }
        }
        for bias in &layer.biases {
            self.biases(bias, layer.byte_biases);
        }
        self.bytes.extend(layer.cell.gains().iter().map(|gain| *gain as u8));
        self.unsigned(&layer.cell.scalars());
        if let Some(start) = &layer.start {
            self.signed(start);
        }
    }

    fn matrix(&mut self, matrix: &Matrix, four_bits: bool) {
        if four_bits {
            return self.form(6, &pairs(matrix));
        }
        let form = match self.forms {
            Forms::Smallest => smallest(matrix),
            Forms::InTurn(forms) => forms[self.matrices % forms.len()],
        };
        self.matrices += 1;
        match in_form(matrix, form) {
            Some(bytes) => self.form(form, &bytes),
            None => self.form(0, &in_form(matrix, 0).expect("form 0 holds every matrix")),
        }
    }

    fn form(&mut self, form: u8, bytes: &[u8]) {
        self.bytes.push(form);
        self.bytes.extend(bytes);
    }
}

/// The form the page asks for: the smallest, the first among equals.
pub fn smallest(matrix: &Matrix) -> u8 {
    let size = |form: &u8| in_form(matrix, *form).map_or(usize::MAX, |bytes| bytes.len());
    (0..4).min_by_key(size).expect("there are four forms")
}

/// What follows the byte that names the form; `None` where the form cannot hold the matrix.
fn in_form(matrix: &Matrix, form: u8) -> Option<Vec<u8>> {
    let (rows, columns) = (matrix.rows, matrix.columns);
    match form {
        0 => Some(matrix.entries.iter().map(|entry| *entry as u8).collect()),
        1 => lists(rows, columns, |row, column| matrix.at(row, column)),
        2 => lists(columns, rows, |column, row| matrix.at(row, column)),
        _ => {
            let mut bitmap = vec![0; matrix.entries.len().div_ceil(8)];
            let mut values = Vec::new();
            for (i, entry) in matrix.entries.iter().enumerate().filter(|(_, entry)| **entry != 0) {
                bitmap[i / 8] |= 1 << (i % 8);
                values.push(*entry as u8);
            }
            Some([bitmap, values].concat())
        }
    }
}

/// Form 6: the entries of two rows in each byte.
fn pairs(matrix: &Matrix) -> Vec<u8> {
    let entry = |row: usize, column: usize| {
        if row == matrix.rows {
            return 0;
        }
        let byte = matrix.at(row, column);
        assert!(byte % 16 == 0, "{byte} is not 16 times a number");
        (byte / 16) as u8 % 16
    };
    let places = (0..matrix.rows).step_by(2).flat_map(|row| (0..matrix.columns).map(move |j| (row, j)));
    places.map(|(row, j)| entry(row, j) + 16 * entry(row + 1, j)).collect()
}

/// Forms 1 and 2: the non-zero entries of `lines` lines of `length` places each.
fn lists(lines: usize, length: usize, at: impl Fn(usize, usize) -> i8) -> Option<Vec<u8>> {
    if length > 256 {
        return None;
    }
    let (mut numbers, mut places, mut values) = (Vec::new(), Vec::new(), Vec::new());
    for line in 0..lines {
        let listed: Vec<usize> = (0..length).filter(|place| at(line, *place) != 0).collect();
        numbers.push(u8::try_from(listed.len()).ok()?);
        places.extend(listed.iter().map(|place| *place as u8));
        values.extend(listed.iter().map(|place| at(line, *place) as u8));
    }
    Some([numbers, places, values].concat())
}
