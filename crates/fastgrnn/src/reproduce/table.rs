//! The tables and figures of the paper that can be made again.

use fastgrnn_core::choice;

choice! {
    /// A table or a figure of the paper.
    PaperTable {
        /// Every method on every data set.
        #[default]
        Main = "main",
        /// Language models of the Penn Treebank.
        Ptb = "ptb",
        /// Layers and regularisers of language models.
        PtbReg = "ptb-reg",
        /// What low rank, sparsity and quantisation do.
        Components = "components",
        /// The same over the size of the model.
        ComponentsVsSize = "components-vs-size",
        /// Methods over the size of the model.
        AccuracyVsSize = "accuracy-vs-size",
        /// FastRNN with a residual weight for each unit.
        Vector = "vector",
        /// Milliseconds of networks on boards.
        Boards = "boards",
        /// Learnt residual weights against the number of time steps.
        AlphaBeta = "alpha-beta",
        /// Accuracy against a residual weight that is fixed.
        FixedAlpha = "fixed-alpha",
        /// Influence of the initial state.
        InitialState = "initial-state",
        /// Many labels for each text.
        Xml = "xml",
        /// Every cell, compressed in the same way, at the same number of bytes.
        EqualBytes = "equal-bytes",
    }
}

impl PaperTable {
    /// The heading of its section.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Main => "Every method on every data set",
            Self::Ptb => "Language models of the Penn Treebank",
            Self::PtbReg => "Regularisation of language models",
            Self::Components => "Low rank, sparsity and quantisation",
            Self::ComponentsVsSize => "Components of the compression against size",
            Self::AccuracyVsSize => "Accuracy against size",
            Self::Vector => "FastRNN with a weight for each unit",
            Self::Boards => "Time on boards",
            Self::AlphaBeta => "α and β against the number of time steps",
            Self::FixedAlpha => "Accuracy against a fixed α",
            Self::InitialState => "Influence of the initial state",
            Self::Xml => "Several labels for each text",
            Self::EqualBytes => "Every cell at equal bytes",
        }
    }

    /// What a reader has to know about it.
    pub const fn note(self) -> &'static str {
        match self {
            Self::Main => {
                "The first protocol trains as the paper says: its shapes and nonlinearities, data without augmentation, \
                 every coordinate of every time step normalised for itself (each feature for FastGRNN, whose integers need \
                 it), 300 epochs, no clipping of gradients. All \
                 training data is used and the last epoch counts; sets of speech have a validation part of their own, \
                 which chooses the epoch. The paper took the best of three optimisers for each method; here FastGRNN has \
                 the one that it publishes, and the others have Adam. The paper does not give the widths of the methods \
                 that it compares with; they are those whose parameters come nearest to its kilobytes, at most 256, and \
                 at most 128 for orthogonal matrices. The second protocol is the same for every method: epochs, \
                 augmentation and refit are shared, and learning rate and weight decay are chosen for each method by \
                 eight trials on validation."
            }
            Self::Ptb => {
                "The recurrent part counts in the size, as in the paper; vectors of words and the softmax do not. All \
                 methods share their regularisation and are trained on pieces of 70 words, where the paper has 300."
            }
            Self::PtbReg => {
                "Each row has the one regulariser that it names. The networks are of full rank; whether the paper's were \
                 is not known."
            }
            Self::Components => {
                "FastGRNN is low-rank, sparse and quantised. What follows its name is left out: Q the quantisation, SQ \
                 also the sparsity, LSQ also the low rank. Shapes are those that the paper publishes; the training is \
                 the one that all methods of the first table share."
            }
            Self::ComponentsVsSize | Self::AccuracyVsSize => {
                "The paper has these figures as plots without numbers, so there is nothing to compare with. Learning \
                 rate and weight decay are the defaults."
            }
            Self::Vector => {
                "FastRNN-vector has an α for each unit; the weight of the old state is ζ(1 − α) + ν with two scalars. The \
                 training is the one that all methods of the first table share."
            }
            Self::Boards => {
                "Networks with random weights and the shapes of the paper's, on emulators. Times are those of a model of \
                 the core and its flash at the board's clock; for the Raspberry Pi there is no model, and instructions \
                 stand for it. Weights of all rows are stored as bytes. FastGRNN computes with integers, FastGRNN-Q is the same network with floats, which these \
                 boards compute in software. The paper's networks without sparsity compute with floats, too; the rows \
                 with integers show what the arithmetic is worth."
            }
            Self::AlphaBeta => {
                "FastRNN with tanh on sequences that are cut into blocks of several time steps, so that fewer and longer \
                 steps hold the same data, trained as published for 300 epochs on HAR-2, 100 on Google-12 and 30 on \
                 Pixel-MNIST-10. α starts at 0.047 and β at 0.953 for every number of steps. With β tied to \
                 1 − α, the accuracy shows what the tie costs."
            }
            Self::FixedAlpha => "α is fixed, and β is 1 − α; everything else is learnt, for 100 epochs.",
            Self::InitialState => {
                "The network was trained from the state 0. On the test part it starts from three states that are drawn \
                 from a normal distribution, too."
            }
            Self::Xml => "P@k is the share of the k labels with the highest scores that are true.",
            Self::EqualBytes => {
                "Every cell computes with integers only, has piecewise-linear nonlinearities, and has the most units \
                 that fit the bytes of its device image. Rank, learning rate and weight decay are chosen for each cell \
                 by eight trials on validation. The paper has no such table."
            }
        }
    }
}
